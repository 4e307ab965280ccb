import assert from 'node:assert/strict';
import { test } from 'node:test';
import { explainer } from '../../../src/explain/explainer.ts';
import { KnownManifests } from '../../../src/explain/known-manifests.ts';
import { KnownPods } from '../../../src/explain/known-pods.ts';
import type { ContainerAccess } from '../../../src/ports/container-access.ts';
import type { ContainerRuntime } from '../../../src/ports/container-runtime.ts';
import type { PodStatus, PodUid } from '../../../src/model/pod.ts';
import { aPod } from '../../builders/a-pod.ts';
import { nodeUnderTest } from '../../builders/node-parts.ts';

const crashed: PodStatus = {
  phase: 'Failed',
  containerStatuses: [
    {
      name: 'app',
      image: 'i:1',
      imageID: '',
      ready: false,
      restartCount: 0,
      state: { terminated: { exitCode: 1, reason: 'Error', containerID: 'docker://c1' } },
    },
  ],
};

test('of a pod that was replaced 10,000 times, the last few alone have their logs read', async () => {
  const { node } = nodeUnderTest();
  const known = new KnownPods({ clock: node.clock, pods: node.pods, remembersGone: true });
  for (let n = 0; n < 10_000; n++) {
    const uid = `u${n}` as PodUid;
    known.statusChanged({ pod: aPod('web', {}, { uid }), status: crashed, previous: undefined });
    known.listener.podEnded?.({ uid } as never);
  }
  let reads = 0;
  const access: ContainerAccess = {
    ...node.engine.access,
    async *logs() {
      reads++;
      yield { stream: 'stdout', bytes: Buffer.from('failed\n') };
    },
  };
  const manifests = new KnownManifests(node.clock);
  const runtime: ContainerRuntime = Object.assign(Object.create(node.engine.runtime), { listPods: async () => [] });
  const found = await explainer({ ...node, engine: { ...node.engine, access, runtime }, known, manifests }).named(
    'default/web',
    new AbortController().signal,
  );
  assert.deepEqual([found.length, reads], [500, 10]);
});
