import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { stateFiles } from '../../../src/agent/state-files.ts';
import { podDirectory } from '../../../src/model/pod-directory.ts';
import type { Pod, PodUid } from '../../../src/model/pod.ts';
import type { KubeletOptions } from '../../../src/options/kubelet-options.ts';
import { capability } from '../../../src/usernamespaces/capability.ts';
import { aPod } from '../../builders/a-pod.ts';
import { RecordingLogger } from '../../fakes/recording-logger.ts';

const never = new AbortController().signal;
const LENGTH = 65_536;

let rootDir: string;
let log: RecordingLogger;
const ends: AbortController[] = [];
beforeEach(() => {
  rootDir = mkdtempSync(join(tmpdir(), 'rxlet-userns-'));
  log = new RecordingLogger();
});
afterEach(() => {
  for (const end of ends.splice(0)) end.abort();
  rmSync(rootDir, { recursive: true });
});

/** An agent that starts on what is in the root directory. */
async function started({ maxPods = 3, length = LENGTH } = {}) {
  const options = { rootDir, maxPods, userNamespaceIdsPerPod: length } as KubeletOptions;
  const podFiles = (uid: PodUid) => stateFiles(podDirectory(rootDir, uid), { log });
  const { pod, services = [] } = capability({ options, podFiles, log });
  const end = new AbortController();
  ends.push(end);
  for (const each of services) {
    void each.run(end.signal, undefined as never);
    await each.ready?.(end.signal);
  }
  return {
    firstOf: async (of: Pod): Promise<number | undefined> => {
      const { userNamespace } = (await pod?.sandbox?.(of, never)) ?? {};
      if (userNamespace !== undefined) assert.equal(userNamespace.length, length);
      return userNamespace?.first;
    },
    release: async (of: Pod) => pod?.release?.(of.metadata.uid, never),
  };
}

function ownUsers(uid: string, spec: { readonly hostUsers?: boolean } = { hostUsers: false }): Pod {
  mkdirSync(podDirectory(rootDir, uid as PodUid), { recursive: true });
  return aPod(uid, spec, { uid: uid as PodUid });
}
const savedOf = (uid: string): string => join(rootDir, 'pods', uid, 'userns');

describe('a pod', () => {
  test('has ids of its own where it asks for them, the same each time, and none of those of the node', async () => {
    const agent = await started();
    const [a, b] = [ownUsers('a'), ownUsers('b')];
    assert.deepEqual([await agent.firstOf(a), await agent.firstOf(b), await agent.firstOf(a)], [LENGTH, 2 * LENGTH, LENGTH]);
    for (const spec of [{ hostUsers: true }, {}]) assert.equal(await agent.firstOf(ownUsers('c', spec)), undefined);
  });

  test('keeps them over a restart, as a kubelet keeps them', async () => {
    const [a, b, c] = [ownUsers('a'), ownUsers('b'), ownUsers('c')];
    const before = await started();
    await before.firstOf(a);
    await before.firstOf(b);
    const mappings = [{ hostId: 2 * LENGTH, containerId: 0, length: LENGTH }];
    assert.deepEqual(JSON.parse(readFileSync(savedOf('b'), 'utf8')), { uidMappings: mappings, gidMappings: mappings });
    const after = await started();
    assert.deepEqual([await after.firstOf(c), await after.firstOf(b), await after.firstOf(a)], [3 * LENGTH, 2 * LENGTH, LENGTH]);
    assert.deepEqual(log.lines, []);
  });

  test('has them until nothing of it is left; then another one may', async () => {
    // There are ids for one pod beside those of the node.
    const length = 2 ** 31;
    const agent = await started({ length });
    const [a, b] = [ownUsers('a'), ownUsers('b')];
    await agent.firstOf(a);
    await assert.rejects(agent.firstOf(b), { message: 'could not find an empty slot to allocate a user namespace' });
    await agent.release(a);
    assert.equal(await agent.firstOf(b), length);
  });

  for (const [what, content] of [
    ['that are none', '{"uidMappings":[]}'],
    [
      'of no pod',
      JSON.stringify({
        uidMappings: [{ hostId: 0, containerId: 0, length: LENGTH }],
        gidMappings: [{ hostId: 0, containerId: 0, length: LENGTH }],
      }),
    ],
    [
      'in another length',
      JSON.stringify({
        uidMappings: [{ hostId: LENGTH, containerId: 0, length: 7 }],
        gidMappings: [{ hostId: LENGTH, containerId: 0, length: 7 }],
      }),
    ],
  ] as const)
    test(`with ids ${what} in its file is said to have others`, async () => {
      const a = ownUsers('a');
      writeFileSync(savedOf('a'), content);
      const agent = await started();
      assert.equal(await agent.firstOf(a), LENGTH);
      assert.deepEqual(
        log.lines.map(({ message }) => message),
        ['the ids of a pod cannot be read back; its next sandbox has others'],
      );
    });
});

for (const maxPods of [1, 2 ** 31 - 1])
  test(`as many pods as there are ids for have some, however many the node may have when it starts: ${maxPods}`, async () => {
    const agent = await started({ maxPods });
    assert.deepEqual([await agent.firstOf(ownUsers('a')), await agent.firstOf(ownUsers('b'))], [LENGTH, 2 * LENGTH]);
  });
