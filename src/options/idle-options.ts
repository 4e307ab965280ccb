import { bool, duration, int32, int64, oneOf, opaque, string, uint } from './kinds.ts';
import { durationOrNanoseconds, quantity } from './accepted-kinds.ts';
import type { IdleOption } from './option.ts';

const always = (): boolean => true;
const isOn = (value: unknown): boolean => value === true;

const cadvisor = { noMeaning: 'it is for the cAdvisor inside of a kubelet, and this agent measures by itself, when somebody asks' };
const kubenet = { noMeaning: 'it is for kubenet: here the engine or a CNI plugin connects pods, each by settings of its own' };
const chains = {
  noMeaning:
    'kube-proxy makes all chains of iptables that it needs, since Kubernetes 1.28; the empty chain KUBE-IPTABLES-HINT, by which some images choose their iptables, is not made',
};
const standardError = { noMeaning: 'nothing of the log goes to standard output' };
const sourceFiles = { noMeaning: 'a line of the log names its stream, and no file of the source' };
const clouds = { noMeaning: 'no cloud provider is built in: --cloud-provider=external leaves the node to a controller of the cloud' };
const credentials = { noMeaning: "credentials of registries come from pods' pull secrets and from Docker's config files" };
const memoryNotices = { noMeaning: 'memory that comes near a threshold is looked at each second, whatever this says' };
const rkt = { noMeaning: 'rkt is no engine any more' };

/**
 * The rest of a kubelet's options, of the releases 0.x, 1.3, 1.20 and 1.36. Its values are checked; a node's present command line and config
 * file start this agent as they are, unless that would be dangerous. An option that becomes honoured moves to options-table.ts.
 */
export const idleOptions: readonly IdleOption[] = [
  { flag: 'application-metrics-count-limit', kind: int64, ...cadvisor },
  { flag: 'container-hints', kind: string, ...cadvisor },
  { flag: 'containerd', kind: string, ...cadvisor },
  { flag: 'containerd-namespace', kind: string, ...cadvisor },
  { flag: 'docker', kind: string, ...cadvisor },
  { flag: 'docker-env-metadata-whitelist', kind: string, ...cadvisor },
  { flag: 'docker-only', kind: bool, ...cadvisor },
  { flag: 'docker-root', kind: string, ...cadvisor },
  { flag: 'docker-tls', kind: bool, ...cadvisor },
  { flag: 'docker-tls-ca', kind: string, ...cadvisor },
  { flag: 'docker-tls-cert', kind: string, ...cadvisor },
  { flag: 'docker-tls-key', kind: string, ...cadvisor },
  { flag: 'enable-cadvisor-json-endpoints', kind: bool, ...cadvisor },
  { flag: 'enable-custom-metrics', config: 'enableCustomMetrics', kind: bool, ...cadvisor },
  { flag: 'enable-load-reader', kind: bool, ...cadvisor },
  { flag: 'event-storage-age-limit', kind: string, ...cadvisor },
  { flag: 'event-storage-event-limit', kind: string, ...cadvisor },
  { flag: 'global-housekeeping-interval', kind: duration, ...cadvisor },
  { flag: 'housekeeping-interval', kind: duration, ...cadvisor },
  { flag: 'log-cadvisor-usage', kind: bool, ...cadvisor },
  { flag: 'max-housekeeping-interval', kind: duration, ...cadvisor },
  { flag: 'storage-driver-buffer-duration', kind: duration, ...cadvisor },
  { flag: 'storage-driver-db', kind: string, ...cadvisor },
  { flag: 'storage-driver-host', kind: string, ...cadvisor },
  { flag: 'storage-driver-password', kind: { ...string, sensitive: true }, ...cadvisor },
  { flag: 'storage-driver-secure', kind: bool, ...cadvisor },
  { flag: 'storage-driver-table', kind: string, ...cadvisor },
  { flag: 'storage-driver-user', kind: string, ...cadvisor },
  {
    flag: 'cadvisor-port',
    config: 'cAdvisorPort',
    kind: uint,
    noMeaning: "measurements are served by the node's server itself, under /metrics/cadvisor and /stats/summary",
  },

  { flag: 'configure-cbr0', config: 'configureCbr', kind: bool, ...kubenet },
  { flag: 'experimental-flannel-overlay', config: 'experimentalFlannelOverlay', kind: bool, ...kubenet },
  { flag: 'hairpin-mode', config: 'hairpinMode', kind: string, unset: 'promiscuous-bridge', ...kubenet },
  { flag: 'network-plugin-mtu', kind: int32, ...kubenet },
  { flag: 'non-masquerade-cidr', config: 'nonMasqueradeCIDR', kind: string, ...kubenet },
  { flag: 'reconcile-cidr', config: 'reconcileCIDR', kind: bool, ...kubenet },
  { flag: 'iptables-drop-bit', config: 'iptablesDropBit', kind: int32, unset: 15, ...chains },
  { flag: 'iptables-masquerade-bit', config: 'iptablesMasqueradeBit', kind: int32, unset: 14, ...chains },
  { flag: 'make-iptables-util-chains', config: 'makeIPTablesUtilChains', kind: bool, unset: true, ...chains },

  { flag: 'add-dir-header', kind: bool, ...sourceFiles },
  { flag: 'log-backtrace-at', kind: opaque, ...sourceFiles },
  { flag: 'skip-log-headers', kind: bool, isMet: isOn, noMeaning: 'a log file begins without a header' },
  { flag: 'log-json-split-stream', config: 'logging.options.json.splitStream', kind: bool, unset: false, ...standardError },
  { flag: 'log-text-split-stream', config: 'logging.options.text.splitStream', kind: bool, unset: false, ...standardError },
  {
    flag: 'log-flush-frequency',
    config: 'logging.flushFrequency',
    kind: durationOrNanoseconds,
    unset: '5s',
    zeroInFileIsUnset: true,
    noMeaning: 'each line of the log is written at once',
  },
  ...(['json', 'text'] as const).map((format) => ({
    flag: `log-${format}-info-buffer-size`,
    config: `logging.options.${format}.infoBufferSize`,
    kind: quantity,
    unset: '0',
    noMeaning: 'each line of the log is written at once',
  })),
  {
    flag: 'experimental-logging-sanitization',
    config: 'logging.sanitization',
    kind: bool,
    unset: false,
    isMet: always,
    noMeaning: 'no line of the log holds a secret, whatever this says',
  },

  { flag: 'azure-container-registry-config', kind: string, ...credentials },
  { flag: 'cloud-config', config: 'cloudConfigFile', kind: string, ...clouds },
  {
    flag: 'container-runtime',
    config: 'containerRuntime',
    kind: { ...oneOf(['docker', 'remote']), schema: (z) => string.schema(z) },
    isMet: always,
    noMeaning: 'what the engine speaks is found out by asking it',
  },
  { flag: 'rkt-api-endpoint', config: 'rktAPIEndpoint', kind: string, ...rkt },
  { flag: 'rkt-path', config: 'rktPath', kind: string, ...rkt },
  { flag: 'rkt-stage1-image', config: 'rktStage', kind: string, ...rkt },
  { flag: 'docker-exec-handler', config: 'dockerExecHandlerName', kind: string, noMeaning: 'commands are run by the engine itself' },
  {
    flag: 'babysit-daemons',
    config: 'babysitDaemons',
    kind: bool,
    noMeaning: 'the engine and kube-proxy are started again by the service manager that has started them',
  },
  {
    flag: 'containerized',
    config: 'containerized',
    kind: bool,
    noMeaning: "mounts are made in the agent's own mount namespace, which has to be the machine's",
  },
  {
    flag: 'redirect-container-streaming',
    kind: bool,
    noMeaning: "streams of exec, attach and port-forward always go through the node's server, which knows who may have them",
  },

  { flag: 'experimental-kernel-memcg-notification', kind: bool, isMet: always, ...memoryNotices },
  {
    flag: 'kernel-memcg-notification',
    config: 'kernelMemcgNotification',
    kind: bool,
    unset: false,
    isMet: always,
    ...memoryNotices,
  },
  {
    flag: 'low-diskspace-threshold-mb',
    config: 'lowDiskSpaceThresholdMB',
    kind: int64,
    noMeaning: 'evictionHard has it by now, as nodefs.available',
  },
  {
    flag: 'outofdisk-transition-frequency',
    config: 'outOfDiskTransitionFrequency',
    kind: duration,
    noMeaning: 'evictionPressureTransitionPeriod has it by now',
  },
  { flag: 'experimental-nvidia-gpus', config: 'nvidiaGPUs', kind: int32, noMeaning: 'GPUs are devices of a device plugin by now' },
  {
    flag: 'experimental-check-node-capabilities-before-mount',
    kind: bool,
    noMeaning: 'a mount whose program is missing says so, and is tried again',
  },
  {
    flag: 'experimental-mounter-path',
    kind: string,
    noMeaning: "file systems are mounted by the machine's own mount, which has to be there",
  },
  {
    flag: 'keep-terminated-pod-volumes',
    kind: bool,
    noMeaning: 'volumes stay for as long as the pod is declared, and are removed with it, never through a mount',
  },
  {
    flag: 'volume-stats-agg-period',
    config: 'volumeStatsAggPeriod',
    kind: duration,
    unset: 60_000,
    zeroInFileIsUnset: true,
    noMeaning: 'volumes are measured when somebody asks, once for all who ask at about the same time',
  },

  {
    flag: 'contention-profiling',
    config: 'enableContentionProfiling',
    kind: bool,
    unset: false,
    noMeaning: 'the agent works on one thread, which waits for no lock of its own',
  },
  { config: 'showHiddenMetricsForVersion', kind: string, noMeaning: 'no metric is hidden' },
  {
    flag: 'kube-api-content-type',
    config: 'contentType',
    kind: string,
    unset: 'application/vnd.kubernetes.protobuf',
    noMeaning: 'the agent and the API server speak JSON',
  },
  {
    flag: 'really-crash-for-testing',
    kind: bool,
    isMet: isOn,
    noMeaning: 'an error that nothing has caught ends the agent in any case',
  },
  {
    flag: 'etcd-config',
    kind: string,
    refused: 'pods come from the API server, and no longer from etcd, so the node would stand without its pods: use --kubeconfig',
  },
];
