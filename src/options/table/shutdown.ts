import { type GraceOfPriority, shutdownByPriority } from '../accepted-kinds.ts';
import { duration } from '../kinds.ts';
import { option } from '../option.ts';

export const shutdownOptions = {
  shutdownGracePeriodMs: option<number>({
    config: 'shutdownGracePeriod',
    kind: duration,
    default: 0,
    group: 'Node',
    help: "For how long the machine's shutdown is delayed for pods to end, that of critical pods included; 0: it is not. systemd-logind is let wait as long, by a file in /etc/systemd/logind.conf.d. Where there is an API server the last two seconds, or a tenth where that is less, are for telling it what became of the pods.",
  }),
  shutdownGracePeriodCriticalPodsMs: option<number>({
    config: 'shutdownGracePeriodCriticalPods',
    kind: duration,
    default: 0,
    group: 'Node',
    help: 'What of shutdownGracePeriod is for critical pods, which end after all others.',
  }),
  shutdownGracePeriodByPodPriority: option<readonly Partial<GraceOfPriority>[]>({
    config: 'shutdownGracePeriodByPodPriority',
    kind: shutdownByPriority,
    default: [],
    defaultText: 'none',
    group: 'Node',
    help: 'In place of both: how long pods from this priority on have to end, the lowest first.',
  }),
};
