import { bool, duration, float, int32, int64, opaque, string, strings, uint } from './kinds.ts';
import { durationOrNanoseconds, featureGatesKind, numbers, quantity } from './accepted-kinds.ts';
import { changesNoGate } from './feature-gates/feature-gates.ts';
import type { AcceptedOption } from './option.ts';

const volumePlugins = '/usr/libexec/kubernetes/kubelet-plugins/volume/exec/';

const noticesMemory = 'memory that comes near a threshold is looked at each second, whatever this says';

/** Keeps the type of the option's value. */
const accepted = <T>(declared: AcceptedOption<T>): AcceptedOption<T> => declared;

/**
 * The rest of a kubelet's options: checked for its form, then passed over with one warning, so that a node's present
 * command line and config file start this agent as they are. An option that becomes honoured moves to options-table.ts.
 */
export const acceptedOptions: readonly AcceptedOption[] = [
  // Flags of release 1.20, with their field in a KubeletConfiguration.
  { flag: 'add-dir-header', kind: bool },
  { flag: 'alsologtostderr', kind: bool },
  { flag: 'application-metrics-count-limit', kind: int64 },
  { flag: 'azure-container-registry-config', kind: string },
  { flag: 'boot-id-file', kind: string },
  { flag: 'chaos-chance', kind: float },
  { flag: 'cloud-config', kind: string },
  { flag: 'cloud-provider', kind: string },
  { flag: 'container-hints', kind: string },
  { flag: 'container-runtime', kind: string },
  { flag: 'containerd', kind: string },
  { flag: 'containerd-namespace', kind: string },
  { flag: 'contention-profiling', config: 'enableContentionProfiling', kind: bool, unset: false },
  { flag: 'docker', kind: string },
  { flag: 'docker-env-metadata-whitelist', kind: string },
  { flag: 'docker-only', kind: bool },
  { flag: 'docker-root', kind: string },
  { flag: 'docker-tls', kind: bool },
  { flag: 'docker-tls-ca', kind: string },
  { flag: 'docker-tls-cert', kind: string },
  { flag: 'docker-tls-key', kind: string },
  { flag: 'dynamic-config-dir', kind: string },
  { flag: 'enable-cadvisor-json-endpoints', kind: bool },
  { flag: 'enable-controller-attach-detach', config: 'enableControllerAttachDetach', kind: bool, unset: true },
  { flag: 'enable-load-reader', kind: bool },
  { flag: 'event-storage-age-limit', kind: string },
  { flag: 'event-storage-event-limit', kind: string },
  { flag: 'exit-on-lock-contention', kind: bool },
  { flag: 'experimental-allocatable-ignore-eviction', kind: bool },
  { flag: 'experimental-check-node-capabilities-before-mount', kind: bool },
  {
    flag: 'experimental-kernel-memcg-notification',
    config: 'kernelMemcgNotification',
    kind: bool,
    unset: false,
    isMet: () => true,
    inPart: noticesMemory,
  },
  { flag: 'experimental-logging-sanitization', config: 'logging.sanitization', kind: bool, unset: false },
  { flag: 'experimental-mounter-path', kind: string },
  accepted({
    flag: 'feature-gates',
    config: 'featureGates',
    kind: featureGatesKind,
    isMet: changesNoGate,
    inPart:
      'ComponentStatusz, ComponentFlagz and ContainerCheckpoint switch what they name, and the rules for other options know all gates of Kubernetes 1.36; nothing else does',
  }),
  { flag: 'global-housekeeping-interval', kind: duration },
  { flag: 'hairpin-mode', config: 'hairpinMode', kind: string, unset: 'promiscuous-bridge' },
  { flag: 'housekeeping-interval', kind: duration },
  { flag: 'image-credential-provider-bin-dir', kind: string },
  { flag: 'image-credential-provider-config', kind: string },
  { flag: 'iptables-drop-bit', config: 'iptablesDropBit', kind: int32, unset: 15 },
  { flag: 'iptables-masquerade-bit', config: 'iptablesMasqueradeBit', kind: int32, unset: 14 },
  { flag: 'keep-terminated-pod-volumes', kind: bool },
  { flag: 'kernel-memcg-notification', kind: bool, isMet: () => true, inPart: noticesMemory },
  { flag: 'kube-api-content-type', config: 'contentType', kind: string, unset: 'application/vnd.kubernetes.protobuf' },
  { flag: 'lock-file', kind: string },
  { flag: 'log-backtrace-at', kind: opaque },
  { flag: 'log-cadvisor-usage', kind: bool },
  { flag: 'log-dir', kind: string },
  { flag: 'log-file', kind: string },
  { flag: 'log-file-max-size', kind: uint },
  { flag: 'log-flush-frequency', config: 'logging.flushFrequency', kind: durationOrNanoseconds, unset: '5s', zeroInFileIsUnset: true },
  { flag: 'logtostderr', kind: bool },
  { flag: 'machine-id-file', kind: string },
  { flag: 'make-iptables-util-chains', config: 'makeIPTablesUtilChains', kind: bool, unset: true },
  { flag: 'master-service-namespace', kind: string },
  { flag: 'max-open-files', config: 'maxOpenFiles', kind: int64, unset: 1_000_000, zeroInFileIsUnset: true },
  { flag: 'network-plugin-mtu', kind: int32 },
  { flag: 'non-masquerade-cidr', kind: string },
  { flag: 'one-output', kind: bool },
  { flag: 'pod-cidr', config: 'podCIDR', kind: string },
  { flag: 'protect-kernel-defaults', config: 'protectKernelDefaults', kind: bool, unset: false },
  { flag: 'really-crash-for-testing', kind: bool },
  { flag: 'redirect-container-streaming', kind: bool },
  { flag: 'skip-headers', kind: bool },
  { flag: 'skip-log-headers', kind: bool },
  { flag: 'stderrthreshold', kind: opaque },
  { flag: 'storage-driver-buffer-duration', kind: duration },
  { flag: 'storage-driver-db', kind: string },
  { flag: 'storage-driver-host', kind: string },
  { flag: 'storage-driver-password', kind: string },
  { flag: 'storage-driver-secure', kind: bool },
  { flag: 'storage-driver-table', kind: string },
  { flag: 'storage-driver-user', kind: string },
  { flag: 'volume-plugin-dir', config: 'volumePluginDir', kind: string, unset: volumePlugins, path: true },
  { flag: 'volume-stats-agg-period', config: 'volumeStatsAggPeriod', kind: duration, unset: 60_000, zeroInFileIsUnset: true },
  // Fields of release 1.20 that have no flag.
  { config: 'showHiddenMetricsForVersion', kind: string },
  // Flags and fields that came after 1.20.
  { flag: 'max-housekeeping-interval', kind: duration },
  { flag: 'log-json-info-buffer-size', config: 'logging.options.json.infoBufferSize', kind: quantity, unset: '0' },
  { flag: 'log-json-split-stream', config: 'logging.options.json.splitStream', kind: bool, unset: false },
  { flag: 'log-text-info-buffer-size', config: 'logging.options.text.infoBufferSize', kind: quantity, unset: '0' },
  { flag: 'log-text-split-stream', config: 'logging.options.text.splitStream', kind: bool, unset: false },
  { config: 'imagePullCredentialsVerificationPolicy', kind: string, unset: 'NeverVerifyPreloadedImages' },
  { config: 'preloadedImagesVerificationAllowlist', kind: strings },
  { config: 'tlsCurvePreferences', kind: numbers },
  { config: 'userNamespaces.idsPerPod', kind: int64 },
];
