import assert from 'node:assert/strict';
import { test } from 'node:test';
import { seccompOpts } from '../../../../../src/engines/docker/containers/seccomp.ts';
import { seccompProfile } from '../../../../../src/engines/common/containers/seccomp-profile.ts';
import type { Pod } from '../../../../../src/model/pod.ts';
import { aContainer, aPod } from '../../../../builders/a-pod.ts';

const container = aContainer('c');
const asked = (type: string, localhostProfile?: string): string =>
  seccompProfile(
    aPod('p', { containers: [container], securityContext: { seccompProfile: { type, ...(localhostProfile && { localhostProfile }) } } }),
    container,
    '/profiles',
  );
const annotated = (profile: string): string => {
  const pod: Pod = aPod('p', { containers: [container] });
  const annotations = { 'seccomp.security.alpha.kubernetes.io/pod': profile };
  return seccompProfile({ ...pod, metadata: { ...pod.metadata, annotations } }, container, '/profiles');
};

test('a profile of the node lies in the directory of profiles, whoever lets another path through', () => {
  assert.equal(asked('Localhost', 'team/a.json'), 'localhost//profiles/team/a.json');
  assert.equal(annotated('localhost/a..b.json'), 'localhost//profiles/a..b.json');
  for (const path of ['../a.json', 'team/../../a.json', '..']) {
    assert.throws(() => asked('Localhost', path), /lies outside of the directory of profiles/, path);
    assert.throws(() => annotated(`localhost/${path}`), /lies outside of the directory of profiles/, path);
  }
});

test('a container is unconfined unless it asks; the default profile is the engine’s own', async () => {
  assert.deepEqual(await seccompOpts(seccompProfile(aPod('p'), container, '/profiles')), ['seccomp=unconfined']);
  assert.deepEqual(await seccompOpts(seccompProfile(aPod('p'), container, '/profiles'), true), []);
  assert.deepEqual(await seccompOpts(asked('Unconfined'), true), ['seccomp=unconfined']);
  assert.deepEqual(await seccompOpts(asked('RuntimeDefault')), []);
  await assert.rejects(
    seccompOpts(asked('Localhost', 'missing.json')),
    /cannot load seccomp profile "\/profiles\/missing.json": open \/profiles\/missing.json: no such file or directory$/,
  );
  await assert.rejects(seccompOpts('localhost//tmp'), /cannot load seccomp profile "\/tmp": read \/tmp: is a directory$/);
});
