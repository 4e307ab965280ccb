import { duration, int32, string } from '../kinds.ts';
import { option } from '../option.ts';
import { minute } from './units.ts';

/** What the node removes when nothing needs it any more. */
export const garbageOptions = {
  imageGcHighThresholdPercent: option<number>({
    flag: 'image-gc-high-threshold',
    config: 'imageGCHighThresholdPercent',
    kind: int32,
    default: 85,
    group: 'Engine and images',
    help: 'Unused images are removed when so much of the file system that holds them is used, in percent; 100 means never.',
  }),
  imageGcLowThresholdPercent: option<number>({
    flag: 'image-gc-low-threshold',
    config: 'imageGCLowThresholdPercent',
    kind: int32,
    default: 80,
    group: 'Engine and images',
    help: 'Images are removed until no more than this is used, in percent.',
  }),
  imageMinimumGcAgeMs: option<number>({
    flag: 'minimum-image-ttl-duration',
    config: 'imageMinimumGCAge',
    kind: duration,
    default: 2 * minute,
    group: 'Engine and images',
    zeroInFileIsUnset: true,
    help: 'An image that has been here for less than this stays.',
  }),
  imageMaximumGcAgeMs: option<number>({
    config: 'imageMaximumGCAge',
    kind: duration,
    default: 0,
    group: 'Engine and images',
    help: 'An image that nothing has used for so long is removed, however much room there is; 0 means never. It counts from the start of the agent.',
  }),
  minimumContainerTtlMs: option<number>({
    flag: 'minimum-container-ttl-duration',
    kind: duration,
    default: 0,
    group: 'Pods',
    deprecated: 'newer Kubernetes releases have evictionHard and evictionSoft in its place',
    help: 'A dead container that was created less than this ago stays.',
  }),
  maximumDeadContainersPerContainer: option<number>({
    flag: 'maximum-dead-containers-per-container',
    kind: int32,
    default: 1,
    group: 'Pods',
    deprecated: 'newer Kubernetes releases have evictionHard and evictionSoft in its place',
    help: 'How many dead instances of a container stay, for logs --previous; negative: all. The newest instance of a container always stays.',
  }),
  maximumDeadContainers: option<number>({
    flag: 'maximum-dead-containers',
    kind: int32,
    default: -1,
    group: 'Pods',
    deprecated: 'newer Kubernetes releases have evictionHard and evictionSoft in its place',
    help: 'How many dead containers stay on the node, the oldest going first; negative: any number. The newest instance of a container stays as long as its pod has not ended.',
  }),
  containerLogMaxSize: option<string>({
    flag: 'container-log-max-size',
    config: 'containerLogMaxSize',
    kind: string,
    default: '10Mi',
    group: 'Engine and images',
    zeroInFileIsUnset: true,
    help: "How large a container's log file may become before the next one is begun, as a quantity; a negative one leaves that to the engine's own settings. Of containers that are made from then on.",
  }),
  containerLogMaxFiles: option<number>({
    flag: 'container-log-max-files',
    config: 'containerLogMaxFiles',
    kind: int32,
    default: 5,
    group: 'Engine and images',
    help: 'How many log files a container has at most, the one that is written to included; at least 2.',
  }),
} as const;
