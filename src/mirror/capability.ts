import { KeyedWorkQueue } from '../agent/queue/keyed-work-queue.ts';
import { exponential } from '../base/exponential.ts';
import type { PodFullName, PodUid } from '../model/pod.ts';
import type { Contribution } from '../ports/contribution.ts';
import type { NodeParts } from '../ports/node-parts.ts';
import { MirrorPods } from './mirror-pods.ts';
import { podRemains } from './pod-remains.ts';
import { PodStatusSync } from './pod-status-sync.ts';

/** After an outage statuses are there again within this time at the latest. */
const retries = exponential(200, 5_000);

/** The pods as the API server shows them: statuses, deletions of what has ended, mirror pods. */
export function capability(node: NodeParts): Contribution {
  const { clock, folded: log, tell, pods, updates, statuses, lives, cluster, engine } = node;
  const { apiPods, clients, nodeChanges } = cluster;
  const api = clients.main;
  const onError = (key: string, error: unknown, retryInMs: number): void => log.v(4, 'call failed, retrying', { key, error, retryInMs });
  // Made first: what ends is put there, whether or not its service runs yet.
  const uids = new KeyedWorkQueue<PodUid>({ name: 'pod statuses', tell, clock, backoffMs: retries, onError });
  const names = new KeyedWorkQueue<PodFullName>({ name: 'mirror pods', tell, clock, backoffMs: retries, onError });
  const mirrorPods = new MirrorPods({
    api,
    apiPods,
    pods,
    updates,
    node: nodeChanges,
    isHeld: (pod) => lives.isHeld(pod),
    log,
    tell,
    queue: names,
  });
  return {
    listener: {
      podEnded: ({ uid, freeName }) => {
        uids.add(uid, 'pod ended');
        if (freeName !== undefined) names.add(freeName, 'pod ended');
      },
      reconciled: ({ uid, outcomes }) => {
        if (outcomes.some(({ action, error }) => action.do === 'tearDown' && error === undefined)) uids.add(uid, 'pod ended');
      },
    },
    services: [
      {
        name: 'pod statuses',
        stage: 'followers',
        run: (signal, { participants }) => {
          const remainsOf = podRemains(engine.runtime, participants, clock);
          const holdsEnd = (uid: PodUid): boolean => participants.some(({ pod }) => pod.holdsEnd?.(uid));
          return new PodStatusSync({ api, apiPods, pods, statuses, clock, log, tell, queue: uids, remainsOf, holdsEnd }).run(signal);
        },
      },
      { name: mirrorPods.name, stage: 'followers', run: (signal) => mirrorPods.run(signal) },
    ],
  };
}
