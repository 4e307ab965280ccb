import assert from 'node:assert/strict';
import { test } from 'node:test';
import { silentLogger } from '../../../src/base/logger.ts';
import type { PodStatus } from '../../../src/model/pod.ts';
import { DesiredPods } from '../../../src/agent/mux/desired-pods.ts';
import type { ApiRequest } from '../../../src/ports/kube-api.ts';
import { KeyedWorkQueue } from '../../../src/agent/queue/keyed-work-queue.ts';
import { ApiPodCache } from '../../../src/cluster/pods/api-pod-cache.ts';
import { PodStatusSync } from '../../../src/mirror/pod-status-sync.ts';
import { PodStatusManager } from '../../../src/agent/status/status-manager.ts';
import { aPod } from '../../builders/a-pod.ts';
import { FakeClock } from '../../fakes/fake-clock.ts';
import { silentHappenings } from '../../fakes/silent-happenings.ts';

const ended: PodStatus = {
  phase: 'Succeeded',
  containerStatuses: [{ name: 'app', image: '', imageID: '', ready: false, restartCount: 0, state: { terminated: { exitCode: 0 } } }],
};

/** A pod that has ended, and an API server whose watch is faster than its answers. */
async function play(dropsAt: ApiRequest['method']): Promise<{ readonly remembered: number; readonly asked: readonly string[] }> {
  const clock = new FakeClock();
  const pod = aPod('web');
  const version = (resourceVersion: string) => ({
    ...pod,
    metadata: { ...pod.metadata, resourceVersion, deletionTimestamp: '2021-01-01T00:00:00Z' },
  });
  const object = version('5');
  const apiPods = new ApiPodCache(silentLogger);
  const statuses = new PodStatusManager({ clock, log: silentLogger, apiStatusOf: () => undefined });
  const asked: string[] = [];
  const api = {
    request: async <T>({ method, body }: ApiRequest): Promise<T> => {
      asked.push(method);
      const { status } = (method === 'PATCH' ? body : {}) as { status?: PodStatus };
      if (method === dropsAt) apiPods.apply({ kind: 'drop', item: version('7') });
      return { ...version('6'), status } as T;
    },
  };
  const sync = new PodStatusSync({
    api,
    apiPods,
    pods: new DesiredPods(),
    statuses,
    queue: new KeyedWorkQueue({ name: 'statuses', tell: silentHappenings, clock, backoffMs: () => 1000, onError: () => {} }),
    remainsOf: async () => ({ containers: 0, sandboxes: 0, others: [] }),
    holdsEnd: () => false,
    clock,
    log: silentLogger,
    tell: silentHappenings,
  });
  const stop = new AbortController();
  const done = sync.run(stop.signal);
  apiPods.apply({ kind: 'reset', items: [object] });
  statuses.set(object, ended);
  await clock.advance(1000);
  stop.abort(new Error('the test ends'));
  await done;
  return { remembered: sync.size, asked };
}

test('nothing is remembered of a pod whose deletion the watch tells before the call is answered', async () => {
  assert.deepEqual(await play('DELETE'), { remembered: 0, asked: ['PATCH', 'DELETE'] });
});

test('nothing is remembered of a pod that goes while its status is being sent', async () => {
  assert.deepEqual(await play('PATCH'), { remembered: 0, asked: ['PATCH'] });
});
