/** How far a feature of Kubernetes has come. */
export type GateStage = 'alpha' | 'beta' | 'stable' | 'deprecated';

export interface FeatureGate {
  readonly stage: GateStage;
  /** Whether it is on where nothing says otherwise. */
  readonly on: boolean;
  /** It cannot be switched any more. */
  readonly locked: boolean;
}

const groups: readonly (readonly [stage: GateStage, state: 'on' | 'off' | 'locked on' | 'locked off', names: string])[] = [
  [
    'alpha',
    'off',
    `
    APIServingWithRoutine AllowUnsafeMalformedObjectDeletion CBORServingAndStorage CPUManagerPolicyAlphaOptions CRIListStreaming
    CSIVolumeHealth ClientsAllowCBOR ClientsPreferCBOR CloudControllerManagerWatchBasedRoutesReconciliation
    CloudControllerManagerWebhook ContainerStopSignals CrossNamespaceVolumeDataSource DRAListTypeAttributes DRANodeAllocatableResources
    DRAResourcePoolStatus DRAWorkloadResourceClaims EventedPLEG GangScheduling GenericWorkload HPAScaleToZero ImageVolumeWithDigest
    InPlacePodVerticalScalingExclusiveCPUs InPlacePodVerticalScalingExclusiveMemory KubeletInUserNamespace LoggingAlphaOptions
    ManifestBasedAdmissionControlConfig MemoryQoS MutablePVNodeAffinity NativeHistograms PersistentVolumeClaimUnusedSinceTime
    PodAndContainerStatsFromCRI PodLevelResourceManagers PodLogsQuerySplitStreams PodsAPI QOSReserved ReduceDefaultCrashLoopBackOffDecay
    RuntimeClassInImageCriApi ShardedListAndWatch StorageCapacityScoring StorageVersionAPI TaintTolerationComparisonOperators
    TopologyAwareWorkloadScheduling TopologyManagerPolicyAlphaOptions UserNamespacesHostNetworkSupport VolumeLimitScaling
    WindowsCPUAndMemoryAffinity WorkloadAwarePreemption WorkloadWithJob
    `,
  ],
  [
    'beta',
    'on',
    `
    APIResponseCompression APIServerIdentity AllowParsingUserUIDFromCertAuth AtomicFIFO AuthorizePodWebsocketUpgradeCreatePermission
    CPUManagerPolicyBetaOptions CRDObservedGenerationTracking ClearingNominatedNodeNameAfterBinding ClientsAllowCARotation
    ClientsAllowTLSCacheGC ComponentFlagz ComponentStatusz ConstrainedImpersonation ContainerCheckpoint ContainerRestartRules
    ContextualLogging DRAConsumableCapacity DRADeviceBindingConditions DRADeviceTaints DRAExtendedResource DRAPartitionableDevices
    DRAResourceClaimDeviceStatus DRAResourceClaimGranularStatusAuthorization DRASchedulerFilterTimeout DeclarativeValidationBeta
    DeploymentReplicaSetTerminatingReplicas DetectCacheInconsistency EnvFiles ExtendWebSocketsToKubelet GracefulNodeShutdown
    GracefulNodeShutdownBasedOnPodPriority HPAConfigurableTolerance HostnameOverride InOrderInformersBatchProcess
    InPlacePodLevelResourcesVerticalScaling InPlacePodVerticalScalingInitContainers KubeletCrashLoopBackOffMax
    KubeletEnsureSecretPulledImages KubeletSeparateDiskGC KubeletServiceAccountTokenForCredentialProviders ListFromCacheSnapshot
    LoggingBetaOptions MatchLabelKeysInPodTopologySpread MatchLabelKeysInPodTopologySpreadSelectorMerge
    MutablePodResourcesForSuspendedJobs MutableSchedulingDirectivesForSuspendedJobs NodeDeclaredFeatures NominatedNodeNameForExpectation
    OpenAPIEnums OpportunisticBatching PLEGOnDemandRelist PodDeletionCost PodLevelResources PodReadyToStartContainersCondition
    PodTopologyLabelsAdmission PortForwardWebsockets PreventStaticPodAPIReferences RelaxedServiceNameValidation
    ReloadKubeletClientCAFile ReloadKubeletServerCertificateFile RemoteRequestHeaderUID ResourceHealthStatus ResourceHealthStatusMessage
    RestartAllContainersOnContainerExits RotateKubeletServerCertificate SchedulerAsyncPreemption SchedulerPopFromBackoffQ
    ServiceAccountNodeAudienceRestriction SizeBasedListCostEstimate StaleControllerConsistencyDaemonSet StaleControllerConsistencyJob
    StaleControllerConsistencyReplicaSet StaleControllerConsistencyStatefulSet StatefulSetSemanticRevisionComparison StorageVersionHash
    StrictIPCIDRValidation StructuredAuthenticationConfigurationEgressSelector StructuredAuthenticationConfigurationJWKSMetrics
    TokenRequestServiceAccountUIDValidation TopologyManagerPolicyBetaOptions TranslateStreamCloseWebsocketRequests
    UnauthenticatedHTTP2DOSMitigation UnknownVersionInteroperabilityProxy UnlockWhileProcessingFIFO
    WatchCacheInitializationPostStartHook WatchList WatchListClient WindowsGracefulNodeShutdown
    `,
  ],
  [
    'beta',
    'off',
    `
    ClusterTrustBundle ClusterTrustBundleProjection ConcurrentWatchObjectDecode CoordinatedLeaderElection DRADeviceTaintRules
    LocalStorageCapacityIsolationFSQuotaMonitoring MaxUnavailableStatefulSet PodCertificateRequest SELinuxMount SchedulerAsyncAPICalls
    StorageVersionMigrator
    `,
  ],
  [
    'stable',
    'on',
    `
    AllowServiceExternalIPs CustomCPUCFSQuotaPeriod DRAPrioritizedList InformerResourceVersion MutatingAdmissionPolicy
    `,
  ],
  [
    'stable',
    'locked on',
    `
    APIServerTracing AnonymousAuthConfigurableEndpoints AnyVolumeDataSource AuthorizeNodeWithSelectors AuthorizeWithSelectors
    BtreeWatchCache CPUManagerPolicyOptions CRDValidationRatcheting CSIServiceAccountTokenSecrets ConsistentListFromCache
    CustomResourceFieldSelectors DRAAdminAccess DeclarativeValidation DisableAllocatorDualWrite DynamicResourceAllocation
    ExecProbeTimeout ExternalServiceAccountTokenSigner ImageMaximumGCAge ImageVolume InOrderInformers InPlacePodVerticalScaling
    JobBackoffLimitPerIndex JobManagedBy JobPodReplacementPolicy JobSuccessPolicy KubeletCgroupDriverFromCRI KubeletFineGrainedAuthz
    KubeletPSI KubeletPodResourcesDynamicResources KubeletPodResourcesGet KubeletTracing LogarithmicScaleDown
    MatchLabelKeysInPodAffinity MultiCIDRServiceAllocator MutableCSINodeAllocatableCount NFTablesProxyMode
    NodeInclusionPolicyInPodTopologySpread NodeLogQuery NodeSwap OrderedNamespaceDeletion PodLifecycleSleepAction
    PodLifecycleSleepActionAllowZero PodObservedGenerationTracking PodSchedulingReadiness PreferSameTrafficDistribution ProcMountType
    RecoverVolumeExpansionFailure RecursiveReadOnlyMounts RelaxedDNSSearchValidation RelaxedEnvironmentVariableValidation
    ResilientWatchCacheInitialization RetryGenerateName SELinuxChangePolicy SELinuxMountReadWriteOncePod SchedulerQueueingHints
    SeparateTaintEvictionController ServiceAccountTokenJTI ServiceAccountTokenNodeBinding ServiceAccountTokenNodeBindingValidation
    ServiceAccountTokenPodNodeInfo SidecarContainers StreamingCollectionEncodingToJSON StreamingCollectionEncodingToProtobuf
    StructuredAuthenticationConfiguration SupplementalGroupsPolicy SystemdWatchdog TopologyManagerPolicyOptions UserNamespacesSupport
    VolumeAttributesClass WinDSR WinOverlay
    `,
  ],
  [
    'deprecated',
    'on',
    `
    DisableCPUQuotaWithExclusiveCPUs KubeletPodResourcesListUseActivePods ServiceCIDRStatusFieldWiping StorageNamespaceIndex
    `,
  ],
  [
    'deprecated',
    'off',
    `
    AllowDNSOnlyNodeCSR AllowInsecureKubeletCertificateSigningRequests ChangeContainerStatusOnKubeletRestart
    DeclarativeValidationTakeover KMSv1 KubeletRegistrationGetOnExistsOnly WindowsHostNetwork
    `,
  ],
  // Of Kubernetes up to 1.25: what it was for is still here.
  ['deprecated', 'on', 'DynamicKubeletConfig'],
  [
    'deprecated',
    'locked on',
    `
    AggregatedDiscoveryRemoveBetaType DisableNodeKubeProxyVersion
    `,
  ],
  [
    'deprecated',
    'locked off',
    `
    AllowOverwriteTerminationGracePeriodSeconds GitRepoVolumeDriver SeparateCacheWatchRPC
    `,
  ],
];

/**
 * The feature gates that a kubelet of Kubernetes 1.36 has: its own (pkg/features) and those of the libraries that it registers (client-go,
 * component-base's logs, metrics and z-pages, apiserver, apiextensions, controller-manager). And DynamicKubeletConfig.
 */
export const knownGates: ReadonlyMap<string, FeatureGate> = new Map(
  groups.flatMap(([stage, state, names]) =>
    names
      .trim()
      .split(/\s+/)
      .map((name) => [name, { stage, on: state.endsWith('on'), locked: state.startsWith('locked') }] as const),
  ),
);
