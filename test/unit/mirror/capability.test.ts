import assert from 'node:assert/strict';
import { test } from 'node:test';
import { capability } from '../../../src/mirror/capability.ts';
import { podRemains } from '../../../src/mirror/pod-remains.ts';
import { whyNotReclaimed } from '../../../src/mirror/pod-reclaim.ts';
import type { PodStatus } from '../../../src/model/pod.ts';
import type { ApiRequest } from '../../../src/ports/kube-api.ts';
import { aPod } from '../../builders/a-pod.ts';
import { aRecord } from '../../builders/a-record.ts';
import { nodeUnderTest, nothingGiven, withoutCluster } from '../../builders/node-parts.ts';

test('a pod that has ended is deleted from the API once nothing of it is left, also by those who gave it something', async () => {
  const pod = aPod('web', {});
  const { uid } = pod.metadata;
  const deleted = { ...pod, metadata: { ...pod.metadata, deletionTimestamp: '2021-02-03T04:05:06Z' }, status: { phase: 'Succeeded' } };
  const requests: ApiRequest[] = [];
  const main = {
    ...withoutCluster.clients.main,
    request: async (request: ApiRequest) => {
      requests.push(request);
      return deleted as never;
    },
  };
  const apiPods = { ...withoutCluster.apiPods, synced: true, byUid: () => deleted, byName: () => deleted };
  const cluster = { ...withoutCluster, exists: true, apiPods, clients: { ...withoutCluster.clients, main } };
  const { node, clock, setStatus, controls } = nodeUnderTest({ cluster });
  let remains: string | undefined = 'volumes';
  const { listener, services = [] } = capability(node);
  const stop = new AbortController();
  const given = { ...nothingGiven, participants: [{ name: 'volumes', pod: { remains: async () => remains } }] };
  const running = Promise.all(services.map((service) => service.run(stop.signal, given)));
  setStatus(pod, { phase: 'Succeeded' });
  await clock.advance(1_000);
  const deletions = (): number => requests.filter(({ method }) => method === 'DELETE').length;
  assert.equal(deletions(), 0);
  remains = undefined;
  listener?.podEnded?.({ uid, freeName: undefined });
  await clock.advance(1_000);
  assert.equal(deletions(), 1);
  stop.abort();
  await running;
  controls.close();
});

test('the end of a pod is told to the API once what others get by it is no longer in use here, at once', async () => {
  const pod = { ...aPod('web', {}), status: { phase: 'Running' } };
  const { uid } = pod.metadata;
  const phases: (string | undefined)[] = [];
  const request = async ({ body }: ApiRequest): Promise<never> => {
    const { status } = body as { readonly status?: PodStatus };
    phases.push(status?.phase);
    return { ...pod, status } as never;
  };
  const apiPods = { ...withoutCluster.apiPods, synced: true, byUid: () => pod, byName: () => pod };
  const main = { ...withoutCluster.clients.main, request };
  const cluster = { ...withoutCluster, exists: true, apiPods, clients: { ...withoutCluster.clients, main } };
  const { node, clock, setStatus, controls } = nodeUnderTest({ cluster });
  let holds = true;
  const { listener, services = [] } = capability(node);
  const stop = new AbortController();
  const given = { ...nothingGiven, participants: [{ name: 'claims', pod: { holdsEnd: () => holds } }] };
  const running = Promise.all(services.map((service) => service.run(stop.signal, given)));
  setStatus(pod, { phase: 'Succeeded' });
  await clock.advance(1_000);
  assert.deepEqual(phases, []);
  holds = false;
  const tornDown = (error?: string): void =>
    listener?.reconciled?.(aRecord({ uid, outcomes: [{ action: { do: 'tearDown' }, tookMs: 1, ...(error && { error }) }] }));
  tornDown('the driver does not answer');
  await clock.advance(1_000);
  assert.deepEqual(phases, []);
  tornDown();
  await clock.advance(0);
  assert.deepEqual(phases, ['Succeeded']);
  stop.abort();
  await running;
  controls.close();
});

test('what remains of a pod is told in words', async () => {
  const { node, controls, clock } = nodeUnderTest();
  const participants = [
    { name: 'volumes', pod: { remains: async () => 'volumes' } },
    { name: 'images', pod: {} },
    { name: 'cgroups', pod: { remains: async () => undefined } },
  ];
  const remains = podRemains(node.engine.runtime, participants, clock);
  const asked = remains(aPod('web').metadata.uid, new AbortController().signal);
  await clock.advance(1_000);
  assert.equal(whyNotReclaimed({}, await asked), 'not released: volumes');
  const hangs = { name: 'cgroups', pod: { remains: () => new Promise<never>(() => {}) } };
  const late = assert.rejects(
    podRemains(node.engine.runtime, [...participants, hangs], clock)(aPod('web').metadata.uid, new AbortController().signal),
    /what cgroups still has of the pod took longer than 10 s/,
  );
  await clock.advance(11_000);
  await late;
  controls.close();
});
