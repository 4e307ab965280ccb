import { bool, colonSeparatedMultimap, duration, int32, oneOf, string } from './kinds.ts';
import type { Kind, Option } from './option.ts';

const option = <T>(declared: Option<T>): Option<T> => declared;
const second = 1_000;
const minute = 60 * second;
/** The kubelet also takes `--version=raw`. */
const versionKind: Kind<boolean> = { ...bool, parse: (text) => text === 'raw' || bool.parse(text) };

/**
 * Every setting that this agent honours, under the name it has in KubeletOptions. Flags, config paths and defaults are the
 * kubelet's (cmd/kubelet/app/options/options.go, pkg/kubelet/apis/config/v1beta1/defaults.go, release 1.20), unless help says otherwise.
 */
export const optionsTable = {
  podManifestPath: option<string>({
    flag: 'pod-manifest-path',
    config: 'staticPodPath',
    kind: string,
    default: '',
    defaultText: 'none',
    group: 'Pods',
    path: true,
    help: 'A directory of pod manifests to run, or one manifest file. Names that start with a dot are ignored.',
  }),
  manifestUrl: option<string>({
    flag: 'manifest-url',
    config: 'staticPodURL',
    kind: string,
    default: '',
    defaultText: 'none',
    group: 'Pods',
    help: 'An http or https URL that serves a pod, or a list of pods, to run.',
  }),
  manifestUrlHeader: option<Readonly<Record<string, readonly string[]>>>({
    flag: 'manifest-url-header',
    config: 'staticPodURLHeader',
    kind: colonSeparatedMultimap,
    default: {},
    defaultText: 'none',
    group: 'Pods',
    help: 'HTTP headers to send to --manifest-url. May be repeated; values of one name keep their order.',
  }),
  fileCheckFrequencyMs: option<number>({
    flag: 'file-check-frequency',
    config: 'fileCheckFrequency',
    kind: duration,
    default: 20 * second,
    group: 'Pods',
    zeroInFileIsUnset: true,
    help: 'How often the manifest directory is read afresh, besides at once when it changes.',
  }),
  httpCheckFrequencyMs: option<number>({
    flag: 'http-check-frequency',
    config: 'httpCheckFrequency',
    kind: duration,
    default: 20 * second,
    group: 'Pods',
    zeroInFileIsUnset: true,
    help: 'How often --manifest-url is fetched.',
  }),
  syncFrequencyMs: option<number>({
    flag: 'sync-frequency',
    config: 'syncFrequency',
    kind: duration,
    default: minute,
    group: 'Pods',
    zeroInFileIsUnset: true,
    help: 'The longest time between two looks at a pod when nothing has happened to it.',
  }),
  runOnce: option<boolean>({
    flag: 'runonce',
    config: 'runOnce',
    kind: bool,
    default: false,
    group: 'Pods',
    deprecated: 'newer Kubernetes releases discourage this mode',
    help: 'Start the pods that the manifests declare, then exit and leave them running.',
  }),

  dockerEndpoint: option<string>({
    flag: 'docker-endpoint',
    kind: string,
    default: 'unix:///var/run/docker.sock',
    group: 'Engine and images',
    help: 'Where the Docker engine listens.',
  }),
  podInfraContainerImage: option<string>({
    flag: 'pod-infra-container-image',
    kind: string,
    default: 'k8s.gcr.io/pause:3.2',
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

  hostnameOverride: option<string>({
    flag: 'hostname-override',
    kind: string,
    default: '',
    defaultText: 'the host name',
    group: 'Node',
    help: "The node's name; blanks around it are dropped and it is lower-cased.",
  }),
  rootDir: option<string>({
    flag: 'root-dir',
    kind: string,
    default: '/var/lib/kubelet',
    group: 'Node',
    help: "The directory for the pods' volumes and this agent's other files.",
  }),

  verbosity: option<number>({
    flag: 'v',
    shorthand: 'v',
    config: 'logging.verbosity',
    kind: int32,
    default: 0,
    group: 'Logging',
    help: 'How much detail to log: 0 transitions, 2 every decision, 4 every step and error stacks, 6 every request.',
  }),
  logFormat: option<'json' | 'text' | undefined>({
    flag: 'log-format',
    aliases: ['logging-format'],
    config: 'logging.format',
    kind: oneOf(['json', 'text']),
    default: undefined,
    defaultText: 'text on a terminal, else json',
    group: 'Logging',
    help: 'How log lines are written to standard error.',
  }),

  configFile: option<string>({
    flag: 'config',
    kind: string,
    default: '',
    defaultText: 'none',
    group: 'General',
    help: 'A KubeletConfiguration (kubelet.config.k8s.io/v1beta1) in YAML or JSON. Flags win over the file.',
  }),
  help: option<boolean>({ flag: 'help', shorthand: 'h', kind: bool, default: false, group: 'General', help: 'Print this text and exit.' }),
  version: option<boolean>({ flag: 'version', kind: versionKind, default: false, group: 'General', help: 'Print the version and exit.' }),
} as const;

export type OptionName = keyof typeof optionsTable;
type ValueOf<O> = O extends Option<infer T> ? T : never;
export type OptionValues = { readonly [Name in OptionName]: ValueOf<(typeof optionsTable)[Name]> };

/** The table for code that treats all options alike. */
export const allOptions: readonly (readonly [OptionName, Option<unknown>])[] = Object.entries(optionsTable).map(
  ([name, declared]) => [name as OptionName, declared as Option<unknown>] as const,
);
