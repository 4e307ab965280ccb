import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ResourceApi } from '../../../src/dra/resource-api.ts';
import { ApiError } from '../../../src/model/api-error.ts';
import type { KubeApi } from '../../../src/ports/kube-api.ts';

const { signal } = new AbortController();

/** An API server that has one version of the API, or none. */
function server(version: string | undefined) {
  const has = { version };
  const asked: string[] = [];
  const answer = ({ method, path }: { readonly method: string; readonly path: string }): unknown => {
    asked.push(`${method} ${path}`);
    if (has.version !== undefined && path === '/apis/resource.k8s.io') return { versions: [{ version: has.version }] };
    if (has.version !== undefined && path.startsWith(`/apis/resource.k8s.io/${has.version}/`)) return {};
    throw new ApiError(404, '', '404 page not found');
  };
  const request = async (...[ask]: Parameters<KubeApi['request']>): Promise<never> => answer(ask) as never;
  return { has, asked, api: new ResourceApi({ request }) };
}

describe('the removal of ResourceSlices', () => {
  it('is asked of the version that an API server has after it was upgraded', async () => {
    const { has, asked, api } = server('v1beta1');
    await api.deleteSlices('n1', { of: 'gpu.org' }, signal);
    has.version = 'v1';
    await api.deleteSlices('n1', { of: 'gpu.org' }, signal);
    assert.deepEqual(asked, [
      'GET /apis/resource.k8s.io',
      'DELETE /apis/resource.k8s.io/v1beta1/resourceslices',
      'DELETE /apis/resource.k8s.io/v1beta1/resourceslices',
      'GET /apis/resource.k8s.io',
      'DELETE /apis/resource.k8s.io/v1/resourceslices',
    ]);
  });

  it('is done where the API server has none, or no longer', async () => {
    const { has, asked, api } = server(undefined);
    await api.deleteSlices('n1', { of: 'gpu.org' }, signal);
    assert.equal(asked.length, 1);
    has.version = 'v1';
    await api.deleteSlices('n1', { of: 'gpu.org' }, signal);
    has.version = undefined;
    await api.deleteSlices('n1', { of: 'gpu.org' }, signal);
    assert.equal(asked.length, 5);
  });
});
