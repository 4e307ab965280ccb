import { defaultEvictionHard } from '../../model/eviction/threshold.ts';
import { bool, duration, int32, langleSeparatedMap, mapStringString } from '../kinds.ts';
import { liveOption, option } from '../option.ts';
import { minute } from './units.ts';

type Texts = Readonly<Record<string, string>>;

export const evictionOptions = {
  evictionHard: liveOption<Texts>({
    flag: 'eviction-hard',
    config: 'evictionHard',
    kind: langleSeparatedMap,
    default: defaultEvictionHard,
    defaultText: Object.entries(defaultEvictionHard)
      .map(([signal, value]) => `${signal}<${value}`)
      .join(', '),
    group: 'Node',
    help: 'Below what a pod is evicted at once: amounts or percentages of the capacity by signal, memory.available, nodefs.available, nodefs.inodesFree, imagefs.available, imagefs.inodesFree, pid.available. 0% and 100% switch a signal off; an empty map all of them. What the flag or the file names goes in place of all defaults. What the node keeps from pods for them changes with the next start of the agent.',
  }),
  evictionSoft: liveOption<Texts>({
    flag: 'eviction-soft',
    config: 'evictionSoft',
    kind: langleSeparatedMap,
    default: {},
    defaultText: 'none',
    group: 'Node',
    help: 'The same, below which a pod is evicted once it has been so for the grace period of the signal. Each needs one, and is not below the hard threshold.',
  }),
  evictionSoftGracePeriod: liveOption<Texts>({
    flag: 'eviction-soft-grace-period',
    config: 'evictionSoftGracePeriod',
    kind: mapStringString,
    default: {},
    defaultText: 'none',
    group: 'Node',
    help: 'For how long a soft threshold must be met before a pod is evicted: a duration by signal.',
  }),
  evictionMinimumReclaim: liveOption<Texts>({
    flag: 'eviction-minimum-reclaim',
    config: 'evictionMinimumReclaim',
    kind: mapStringString,
    default: {},
    defaultText: 'none',
    group: 'Node',
    help: 'How much more than the threshold must be free before evictions end: an amount or a percentage of the capacity by signal.',
  }),
  evictionPressureTransitionPeriodMs: liveOption<number>({
    flag: 'eviction-pressure-transition-period',
    config: 'evictionPressureTransitionPeriod',
    kind: duration,
    default: 5 * minute,
    group: 'Node',
    zeroInFileIsUnset: true,
    help: 'How long the node goes on to report pressure once no threshold is met any more.',
  }),
  evictionMaxPodGracePeriodSeconds: liveOption<number>({
    flag: 'eviction-max-pod-grace-period',
    config: 'evictionMaxPodGracePeriod',
    kind: int32,
    default: 0,
    group: 'Node',
    help: 'The longest grace period, in seconds, of a pod that is evicted for a soft threshold; below zero each pod has its own. For a hard one it is 1 second.',
  }),
  mergeDefaultEvictionSettings: liveOption<boolean>({
    config: 'mergeDefaultEvictionSettings',
    kind: bool,
    default: false,
    group: 'Node',
    help: 'Whether the hard thresholds that the config file does not name have their defaults, rather than none.',
  }),
  localStorageCapacityIsolation: option<boolean>({
    flag: 'local-storage-capacity-isolation',
    config: 'localStorageCapacityIsolation',
    kind: bool,
    default: true,
    group: 'Node',
    help: 'Whether pods that use more local storage than they may, by their own limits, are evicted.',
  }),
} as const;
