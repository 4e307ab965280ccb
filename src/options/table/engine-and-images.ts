import { bool, duration, engineEndpoint, int32, string } from '../kinds.ts';
import { option } from '../option.ts';
import { minute } from './units.ts';

export const engineAndImageOptions = {
  dockerEndpoint: option<string>({
    flag: 'docker-endpoint',
    kind: engineEndpoint,
    default: 'unix:///var/run/docker.sock',
    group: 'Engine and images',
    help: 'Where the Docker engine listens: unix:///PATH or tcp://HOST:PORT; fake:// is the embedded engine.',
  }),
  podInfraContainerImage: option<string>({
    flag: 'pod-infra-container-image',
    kind: string,
    default: 'registry.k8s.io/pause:3.10',
    group: 'Engine and images',
    help: "The image of the container that holds a pod's network and IPC namespaces.",
  }),
  runtimeRequestTimeoutMs: option<number>({
    flag: 'runtime-request-timeout',
    config: 'runtimeRequestTimeout',
    kind: duration,
    default: 2 * minute,
    group: 'Engine and images',
    zeroInFileIsUnset: true,
    help: 'How long one request to the engine may take; image pulls and streams are exempt.',
  }),
  imagePullProgressDeadlineMs: option<number>({
    flag: 'image-pull-progress-deadline',
    kind: duration,
    default: minute,
    group: 'Engine and images',
    help: 'An image pull that makes no progress for this long is given up, and tried again later.',
  }),
  registryQps: option<number>({
    flag: 'registry-qps',
    config: 'registryPullQPS',
    kind: int32,
    default: 5,
    group: 'Engine and images',
    help: 'Image pulls started per second; 0 means no limit.',
  }),
  registryBurst: option<number>({
    flag: 'registry-burst',
    config: 'registryBurst',
    kind: int32,
    default: 10,
    group: 'Engine and images',
    zeroInFileIsUnset: true,
    help: 'Image pulls that may start at once before --registry-qps limits them.',
  }),
  serializeImagePulls: option<boolean>({
    flag: 'serialize-image-pulls',
    config: 'serializeImagePulls',
    kind: bool,
    default: true,
    defaultText: 'true, or false when --max-parallel-image-pulls is more than 1',
    group: 'Engine and images',
    help: 'Pull one image at a time. Images that the engine has already never wait for a pull.',
  }),
  maxParallelImagePulls: option<number | undefined>({
    flag: 'max-parallel-image-pulls',
    config: 'maxParallelImagePulls',
    kind: int32,
    default: undefined,
    defaultText: 'no limit',
    group: 'Engine and images',
    help: 'Image pulls at the same time when they are not serialized. The kubelet has it in the config file only.',
  }),
} as const;
