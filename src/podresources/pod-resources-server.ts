import type { Clock } from '../base/clock.ts';
import { GrpcError } from '../base/grpc/grpc-error.ts';
import { GrpcServer } from '../base/grpc/grpc-server.ts';
import { TokenBucket } from '../base/token-bucket.ts';
import { isTerminalPhase } from '../model/pod-predicates.ts';
import type { Pod } from '../model/pod.ts';
import type { AssignedResources } from '../ports/assigned-resources.ts';
import type { HappeningKinds, Happenings } from '../ports/happenings.ts';
import type { PodStatuses } from '../ports/pod-statuses.ts';
import type { PodStore } from '../ports/pod-store.ts';
import { PodResourcesLister } from './api/podresources-v1_pb.js';
import { PodResourcesLister as OldPodResourcesLister } from './api/podresources-v1alpha1_pb.js';
import { allocatableResources, podResources, podResourcesAlpha } from './pod-resources.ts';

export interface PodResourcesDeps {
  readonly pods: Pick<PodStore, 'list'>;
  readonly statuses: Pick<PodStatuses, 'get'>;
  readonly assigned: readonly AssignedResources[];
  readonly clock: Pick<Clock, 'monotonicMs' | 'schedule'>;
  readonly tell: Pick<Happenings, 'podResourcesAsked'>;
}

/** Of all calls together (DefaultQPS, DefaultBurstTokens in pkg/kubelet/apis/podresources/grpc). */
const RATE = { qps: 100, burst: 10 };

/** The pod resources API of both versions, of which no release has a watch. */
export function podResourcesServer({ pods, statuses, assigned, clock, tell }: PodResourcesDeps): GrpcServer {
  const bucket = new TokenBucket({ rate: () => RATE, clock });
  type Asked = HappeningKinds['podResourcesAsked'];
  const limited =
    <I, O>(version: Asked['version'], method: Asked['method'], answer: (input: I) => O) =>
    (input: I): O => {
      if (!bucket.tryAcquire()) throw new GrpcError('', { code: 'ResourceExhausted', details: 'rejected by rate limit' });
      let failed = true;
      try {
        const answered = answer(input);
        failed = false;
        return answered;
      } finally {
        tell.podResourcesAsked({ version, method, failed });
      }
    };
  const all = (): readonly Pod[] => pods.list().map(({ pod }) => pod);
  const isActive = ({ metadata: { uid }, status }: Pod): boolean => !isTerminalPhase((statuses.get(uid) ?? status)?.phase);
  const { list, get, getAllocatableResources } = PodResourcesLister.method;
  return new GrpcServer({ clock })
    .unary(
      list,
      limited('v1', 'list', () => ({
        podResources: all()
          .filter(isActive)
          .map((pod) => podResources(pod, assigned)),
      })),
    )
    .unary(
      get,
      limited('v1', 'get', ({ podName, podNamespace }) => {
        const pod = all().find(({ metadata: { name, namespace } }) => name === podName && namespace === podNamespace);
        if (pod) return { podResources: podResources(pod, assigned) };
        throw new GrpcError('', { code: 'Unknown', details: `pod ${podName} in namespace ${podNamespace} not found` });
      }),
    )
    .unary(
      getAllocatableResources,
      limited('v1', 'getAllocatable', () => allocatableResources(assigned)),
    )
    .unary(
      OldPodResourcesLister.method.list,
      limited('v1alpha1', 'list', () => ({ podResources: all().map((pod) => podResourcesAlpha(pod, assigned)) })),
    );
}
