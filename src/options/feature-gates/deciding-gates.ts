/**
 * The feature gates that decide something here, and what. What a gate is asked for has to be among them: all others are known, checked, and
 * without meaning on this node, which is said where one is set.
 */
export const decidingGates = {
  CPUManagerPolicyAlphaOptions: 'allows for align-by-socket and distribute-cpus-across-cores in cpuManagerPolicyOptions',
  CPUManagerPolicyBetaOptions: 'allows for distribute-cpus-across-numa in cpuManagerPolicyOptions',
  ComponentFlagz: 'serves /flagz',
  ComponentStatusz: 'serves /statusz',
  ContainerCheckpoint: 'serves /checkpoint',
  ContainerRestartRules:
    "lets containers have restart policies and rules of their own: without it static pods with them are refused, and other pods' are passed over",
  CustomCPUCFSQuotaPeriod: 'allows for another cpuCFSQuotaPeriod than 100ms',
  DisableCPUQuotaWithExclusiveCPUs: 'lets containers with CPUs of their own run without a quota',
  DynamicKubeletConfig: 'allows for --dynamic-config-dir',
  EnvFiles: 'takes variables from files (fileKeyRef): without it static pods with them are refused, and those of other pods are empty',
  ExtendWebSocketsToKubelet: 'has the node declare that it takes WebSockets',
  GracefulNodeShutdown: "allows for shutdownGracePeriod, for which the machine's shutdown waits for pods",
  GracefulNodeShutdownBasedOnPodPriority: 'allows for shutdownGracePeriodByPodPriority',
  InPlacePodVerticalScalingInitContainers: 'has the node declare that init containers can be resized',
  KubeletCrashLoopBackOffMax: 'allows for crashLoopBackOff.maxContainerRestartPeriod, the longest wait of crash loops',
  KubeletEnsureSecretPulledImages:
    'records which credentials images were pulled with, and allows for imagePullCredentialsVerificationPolicy: without it images that are here are for every pod',
  KubeletServiceAccountTokenForCredentialProviders:
    "allows for tokenAttributes of credential providers, which are then asked with the token of the pod's service account",
  LoggingAlphaOptions: 'allows for splitStream and infoBufferSize of logging.options',
  MemoryQoS: 'protects and slows down memory by memoryReservationPolicy and memoryThrottlingFactor, with cgroup v2',
  NodeDeclaredFeatures: 'has the node declare its features',
  PodLevelResources: 'admits pods with resources of their own',
  PodLogsQuerySplitStreams: 'lets clients of the server ask for one stream of a log (stream=Stdout); `rxlet logs --stream` may always',
  PodReadyToStartContainersCondition: "shows in a pod's status whether its sandbox is there",
  PreventStaticPodAPIReferences:
    'refuses static pods that refer to objects of the API server; those of the manifest directory are for them',
  QOSReserved: 'keeps memory from lower QoS classes by qosReserved',
  ReduceDefaultCrashLoopBackOffDecay: 'begins crash loops with a wait of 1 s rather than 10 s',
  ResourceHealthStatus: "shows in a container's status how its devices do",
  ResourceHealthStatusMessage: 'shows there what a DRA driver says of a device',
  RestartAllContainersOnContainerExits: 'has the node declare that rules may restart all containers of a pod',
  RotateKubeletServerCertificate: "allows for serverTLSBootstrap, by which the cluster signs the server's certificate",
} as const satisfies Readonly<Record<string, string>>;

export type DecidingGate = keyof typeof decidingGates;
