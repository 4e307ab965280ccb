import assert from 'node:assert/strict';
import type { IncomingMessage } from 'node:http';
import { json } from 'node:stream/consumers';
import { test } from 'node:test';
import type { SandboxId } from '../../../../../src/ports/container-runtime.ts';
import { aContainer, aPod } from '../../../../builders/a-pod.ts';
import { aDockerRuntime, anEngineClient } from '../../../../builders/docker-parts.ts';
import { FakeClock } from '../../../../fakes/fake-clock.ts';
import { scriptedEngine } from '../../../../fakes/scripted-engine.ts';

interface Created {
  readonly User: string;
  readonly HostConfig: { readonly Binds?: readonly string[] };
}

test('an image is asked for its user without the mounts: an engine makes what is not there yet a directory', async (t) => {
  const created: Created[] = [];
  const answer = async (request: IncomingMessage): Promise<readonly [status: number, body: object]> => {
    if (request.method === 'POST') {
      created.push((await json(request)) as Created);
      return [201, { Id: `c${created.length}` }];
    }
    // Of the archive: an image without /etc/passwd.
    return request.method === 'DELETE' ? [204, {}] : [404, { message: 'no such file' }];
  };
  const engine = await scriptedEngine((request, response) => {
    void answer(request).then(([status, body]) =>
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body)),
    );
  });
  t.after(engine.close);
  const clock = new FakeClock();
  const container = aContainer('app', { terminationMessagePath: '' });
  const pod = aPod('web', { containers: [container], securityContext: { runAsUser: 1000, supplementalGroupsPolicy: 'Strict' } });
  const mounts = [{ hostPath: '/pods/1/etc-hosts', containerPath: '/etc/hosts', readOnly: false }];
  const spec = { container, attempt: 0, imageRef: 'sha256:1', env: [], command: undefined, args: undefined, mounts };
  const runtime = aDockerRuntime(anEngineClient(engine.endpoint, clock), clock);
  await runtime.createContainer(pod, 's' as SandboxId, spec, new AbortController().signal);
  assert.deepEqual(
    created.map(({ HostConfig }) => HostConfig.Binds ?? []),
    [[], ['/pods/1/etc-hosts:/etc/hosts']],
  );
  assert.equal(created.at(-1)?.User, '1000:0');
});
