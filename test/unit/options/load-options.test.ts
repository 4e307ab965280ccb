import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { NoFileError } from '../../../src/base/no-file-error.ts';
import { loadOptions, OptionsError } from '../../../src/options/load-options.ts';

const head = 'apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n';
const environment = (file = head, hostname = 'Node-1') => ({ hostname, terminal: false, readFile: () => Promise.resolve(file) });

const problemsOf = async (argv: readonly string[], file?: string, hostname?: string): Promise<readonly string[]> => {
  try {
    await loadOptions(argv, environment(file, hostname));
    return [];
  } catch (error) {
    assert(error instanceof OptionsError);
    return error.problems;
  }
};

test("without arguments every option has the kubelet's default", async () => {
  const { options, warnings } = await loadOptions([], environment());
  assert.deepEqual(options, {
    podManifestPath: '',
    manifestUrl: '',
    manifestUrlHeader: {},
    fileCheckFrequencyMs: 20_000,
    httpCheckFrequencyMs: 20_000,
    userNamespaceIdsPerPod: 65_536,
    maxContainerRestartPeriodMs: 300_000,
    maxOpenFiles: 1_000_000,
    syncFrequencyMs: 60_000,
    masterServiceNamespace: 'default',
    runOnce: false,
    allowedUnsafeSysctls: [],
    allowPrivileged: true,
    hostNetworkSources: ['*'],
    hostPidSources: ['*'],
    hostIpcSources: ['*'],
    seccompProfileRoot: '',
    seccompDefault: false,
    cpuManagerPolicy: 'none',
    cpuManagerPolicyOptions: {},
    cpuManagerReconcilePeriodMs: 10_000,
    topologyManagerPolicy: 'none',
    topologyManagerPolicyOptions: {},
    topologyManagerScope: 'container',
    cpuCfsQuota: true,
    cpuCfsQuotaPeriodMs: 100,
    podPidsLimit: -1,
    dockerEndpoint: '',
    containerRuntimeEndpoint: '',
    imageServiceEndpoint: '',
    podCidr: '',
    podInfraContainerImage: 'registry.k8s.io/pause:3.10',
    runtimeRequestTimeoutMs: 120_000,
    imagePullProgressDeadlineMs: 60_000,
    imageCredentialProviderConfig: '',
    imageCredentialProviderBinDir: '',
    registryQps: 5,
    registryBurst: 10,
    serializeImagePulls: true,
    singleProcessOomKill: undefined,
    maxParallelImagePulls: undefined,
    imagePullCredentialsVerificationPolicy: 'NeverVerifyPreloadedImages',
    preloadedImagesVerificationAllowlist: [],
    imageGcHighThresholdPercent: 85,
    imageGcLowThresholdPercent: 80,
    imageMinimumGcAgeMs: 120_000,
    imageMaximumGcAgeMs: 0,
    shutdownGracePeriodMs: 0,
    failSwapOn: undefined,
    failCgroupV1: undefined,
    shutdownGracePeriodCriticalPodsMs: 0,
    shutdownGracePeriodByPodPriority: [],
    minimumContainerTtlMs: 0,
    maximumDeadContainersPerContainer: 1,
    maximumDeadContainers: -1,
    containerLogMaxSize: '10Mi',
    containerLogMaxFiles: 5,
    containerLogMaxWorkers: 1,
    containerLogMonitorIntervalMs: 10_000,
    podLogsDir: '/var/log/pods',
    rootDir: '/var/lib/kubelet',
    nodeIp: '',
    cgroupDriver: 'cgroupfs',
    cgroupRoot: '',
    cgroupsPerQos: true,
    chaosChance: 0,
    enforceNodeAllocatable: ['pods'],
    kubeReserved: {},
    kubeReservedCgroup: '',
    kubeletCgroups: '',
    memoryManagerPolicy: 'None',
    reservedMemory: [],
    memoryReservationPolicy: 'None',
    memoryThrottlingFactor: 0.9,
    swapBehavior: '',
    oomScoreAdj: -999,
    qosReserved: {},
    reservedSystemCpus: '',
    systemReserved: {},
    systemReservedCgroup: '',
    systemCgroups: '',
    runtimeCgroups: '',
    registerNode: true,
    registerSchedulable: true,
    registerWithTaints: [],
    nodeLabels: {},
    providerId: '',
    cloudProvider: '',
    enableControllerAttachDetach: true,
    allocatableIgnoresEviction: false,
    protectKernelDefaults: undefined,
    machineIdFiles: ['/etc/machine-id', '/var/lib/dbus/machine-id'],
    bootIdFiles: ['/proc/sys/kernel/random/boot_id'],
    maxPods: 110,
    podsPerCore: 0,
    nodeStatusUpdateFrequencyMs: 10_000,
    nodeStatusReportFrequencyMs: 300_000,
    nodeLeaseDurationSeconds: 40,
    nodeStatusMaxImages: 50,
    evictionHard: {
      'memory.available': '100Mi',
      'nodefs.available': '10%',
      'nodefs.inodesFree': '5%',
      'imagefs.available': '15%',
      'imagefs.inodesFree': '5%',
    },
    evictionSoft: {},
    evictionSoftGracePeriod: {},
    evictionMinimumReclaim: {},
    evictionPressureTransitionPeriodMs: 300_000,
    evictionMaxPodGracePeriodSeconds: 0,
    mergeDefaultEvictionSettings: false,
    localStorageCapacityIsolation: true,
    volumePluginDir: '/usr/libexec/kubernetes/kubelet-plugins/volume/exec/',
    networkPlugin: '',
    cniConfDir: '/etc/cni/net.d',
    cniBinDir: '/opt/cni/bin',
    cniCacheDir: '/var/lib/cni/cache',
    clusterDns: [],
    clusterDomain: '',
    resolvConf: '/etc/resolv.conf',
    kubeconfig: '',
    bootstrapKubeconfig: '',
    certDir: '/var/lib/kubelet/pki',
    rotateCertificates: false,
    kubeApiQps: 50,
    kubeApiBurst: 100,
    eventQps: 50,
    eventBurst: 100,
    configMapAndSecretChangeDetectionStrategy: 'Watch',
    enableServer: true,
    address: '0.0.0.0',
    port: 10_250,
    readOnlyPort: 0,
    healthzBindAddress: '127.0.0.1',
    healthzPort: 10_248,
    pageAddress: '',
    enableDebuggingHandlers: true,
    enableSystemLogHandler: true,
    enableSystemLogQuery: false,
    enableProfilingHandler: true,
    enableDebugFlagsHandler: true,
    streamingConnectionIdleTimeoutMs: 14_400_000,
    clientCaFile: '',
    anonymousAuth: false,
    authenticationTokenWebhook: true,
    authenticationTokenWebhookCacheTtlMs: 120_000,
    authorizationMode: 'Webhook',
    authorizationWebhookCacheAuthorizedTtlMs: 300_000,
    authorizationWebhookCacheUnauthorizedTtlMs: 30_000,
    tlsCertFile: '',
    tlsPrivateKeyFile: '',
    tlsMinVersion: 'VersionTLS12',
    tlsCipherSuites: [],
    tlsCurvePreferences: [],
    rotateServerCertificates: false,
    verbosity: 0,
    vmodule: [],
    tracingEndpoint: undefined,
    tracingSamplingRatePerMillion: undefined,
    timelineMaxMib: 16,
    logFormat: 'json',
    configFile: '',
    configDirectory: '',
    logToStandardError: true,
    logAlsoToStandardError: false,
    logStandardErrorThreshold: 'error',
    logFile: '',
    logDir: '',
    logFileMaxMegabytes: 1800,
    logOneOutput: false,
    skipLogHeaders: false,
    lockFile: '',
    exitOnLockContention: false,
    dynamicConfigDir: '',
    recordFile: '',
    recordMaxMib: 256,
    help: false,
    helpAll: false,
    version: false,
    nodeName: 'node-1',
    featureGates: {},
  });
  assert.deepEqual(warnings, []);
});

test('a flag wins over the file, the file over the default', async () => {
  const file = `${head}registryPullQPS: 7\nregistryBurst: 8\nstaticPodURLHeader: {a: [file], b: [file]}\n`;
  const argv = ['--config=kubelet.yaml', '--registry-qps=0', '--manifest-url-header=a:flag'];
  const { options, origins } = await loadOptions(argv, environment(file));
  assert.deepEqual([options.registryQps, options.registryBurst, options.syncFrequencyMs], [0, 8, 60_000]);
  assert.deepEqual(options.manifestUrlHeader, { a: ['flag'] });
  assert.deepEqual([origins.registryQps, origins.registryBurst, origins.syncFrequencyMs], ['flag', 'file', 'default']);
});

test('gates of flags win over those of files', async () => {
  const file = `${head}featureGates: {ComponentStatusz: false, ComponentFlagz: false}\n`;
  const { options } = await loadOptions(['--config=x', '--feature-gates=ComponentFlagz=true'], environment(file));
  assert.deepEqual(options.featureGates, { ComponentStatusz: false, ComponentFlagz: true });
});

test('a false flag wins over a true file', async () => {
  const { options } = await loadOptions(['--config=x', '--runonce=false'], environment(`${head}runOnce: true`));
  assert.equal(options.runOnce, false);
});

describe('the node name', () => {
  for (const [name, argv, hostname, expected] of [
    ['is the host name in lower case', [], 'Host.Example', 'host.example'],
    ['is the override, trimmed, in lower case', ['--hostname-override= Web-1 '], 'host', 'web-1'],
  ] as const) {
    test(name, async () => {
      assert.equal((await loadOptions(argv, environment(head, hostname))).options.nodeName, expected);
    });
  }

  test('must not be blank', async () => {
    assert.deepEqual(await problemsOf(['--hostname-override= ']), ['empty hostname is invalid']);
  });

  test('must be one that pods can end with', async () => {
    assert.match(
      String(await problemsOf(['--hostname-override=my_host'])),
      /^the node's name "my_host" \(--hostname-override\): a lowercase RFC/,
    );
  });
});

describe('parallel pulls', () => {
  for (const [name, argv, file, serialize] of [
    ['more than one turns serializing off', ['--max-parallel-image-pulls=3'], head, false],
    ['one leaves it on', ['--max-parallel-image-pulls=1'], head, true],
    ['one may be asked for with serializing off', ['--config=x'], `${head}maxParallelImagePulls: 1\nserializeImagePulls: false`, false],
  ] as const) {
    test(name, async () => {
      assert.equal((await loadOptions(argv, environment(file))).options.serializeImagePulls, serialize);
    });
  }
});

describe('together these are refused:', () => {
  for (const [argv, problems] of [
    [['--sync-frequency=0'], ['invalid configuration: syncFrequency (--sync-frequency) 0s must be more than 0']],
    [['--http-check-frequency=-1s'], ['invalid configuration: httpCheckFrequency (--http-check-frequency) -1s must be more than 0']],
    [['--image-pull-progress-deadline=0s'], ['invalid configuration: --image-pull-progress-deadline 0s must be more than 0']],
    [
      ['--runtime-request-timeout=-1m'],
      ['invalid configuration: runtimeRequestTimeout (--runtime-request-timeout) -1m0s must not be negative'],
    ],
    [['--registry-qps=-1'], ['invalid configuration: registryPullQPS (--registry-qps) -1 must not be a negative number']],
    [
      ['--allowed-unsafe-sysctls=vm.swappiness,net.*'],
      ['invalid configuration: allowedUnsafeSysctls (--allowed-unsafe-sysctls): the sysctl "vm.swappiness" are not known to be namespaced'],
    ],
    [['--host-pid-sources=file,disk'], ['invalid configuration: hostPIDSources (--host-pid-sources): unknown pod source "disk"']],
    [
      ['--cpu-cfs-quota-period=2s'],
      ['invalid configuration: cpuCFSQuotaPeriod (--cpu-cfs-quota-period) {2s} must be between 1ms and 1sec, inclusive'],
    ],
    [['--registry-burst=-1'], ['invalid configuration: registryBurst (--registry-burst) -1 must not be a negative number']],
    [['--max-parallel-image-pulls=0'], ['invalid configuration: maxParallelImagePulls 0 must be a positive number']],
    [
      ['--max-parallel-image-pulls=2', '--serialize-image-pulls'],
      [
        'invalid configuration: maxParallelImagePulls cannot be larger than 1 unless SerializeImagePulls (--serialize-image-pulls) is set to false',
      ],
    ],
    [['--manifest-url=ftp://a'], ['invalid configuration: staticPodURL (--manifest-url) must be an http or https URL']],
    [
      ['--kube-api-qps=-1', '--max-pods=-2'],
      [
        'invalid configuration: kubeAPIQPS (--kube-api-qps) -1 must not be a negative number',
        'invalid configuration: maxPods (--max-pods) -2 must not be a negative number',
      ],
    ],
    [['--node-status-max-images=-2'], ['invalid configuration: nodeStatusMaxImages (--node-status-max-images) -2 must be -1 or greater']],
    [['--port=0'], ['invalid configuration: port (--port) 0 must be between 1 and 65535, inclusive']],
    [['--read-only-port=65536'], ['invalid configuration: readOnlyPort (--read-only-port) 65536 must be between 0 and 65535, inclusive']],
    [['--healthz-port=-1'], ['invalid configuration: healthzPort (--healthz-port) -1 must be between 1 and 65535, inclusive']],
    [
      ['--tls-cert-file=/a.crt'],
      ['invalid configuration: tlsCertFile (--tls-cert-file) and tlsPrivateKeyFile (--tls-private-key-file) belong together'],
    ],
    [
      ['--tls-cipher-suites=TLS_RSA_WITH_RC4_128_SHA'],
      ['invalid configuration: tlsCipherSuites (--tls-cipher-suites) names only suites that are too weak to be spoken'],
    ],
    [['--node-lease-duration-seconds=0'], ['invalid configuration: nodeLeaseDurationSeconds must be greater than 0']],
    [
      ['--node-labels=node.kubernetes.io/a=1,kubernetes.io/role=x,b.k8s.io/c=2,kubernetes.io/os=linux'],
      [
        "unknown 'kubernetes.io' or 'k8s.io' labels specified with --node-labels: [b.k8s.io/c kubernetes.io/role]",
        "--node-labels in the 'kubernetes.io' namespace must begin with an allowed prefix (kubelet.kubernetes.io, node.kubernetes.io) or be in the specifically allowed set (beta.kubernetes.io/arch, beta.kubernetes.io/instance-type, beta.kubernetes.io/os, failure-domain.beta.kubernetes.io/region, failure-domain.beta.kubernetes.io/zone, kubernetes.io/arch, kubernetes.io/hostname, kubernetes.io/os, node.kubernetes.io/instance-type, topology.kubernetes.io/region, topology.kubernetes.io/zone)",
      ],
    ],
    [['--root-dir='], ['invalid configuration: --root-dir must not be empty']],
  ] as const) {
    test(argv.join(' '), async () => {
      assert.deepEqual(await problemsOf(argv), problems);
    });
  }
});

test('a runtime request timeout of 0 is the engine client’s own default', async () => {
  assert.equal((await loadOptions(['--runtime-request-timeout=0'], environment())).options.runtimeRequestTimeoutMs, 120_000);
});

test('a relative root directory becomes absolute', async () => {
  assert.equal((await loadOptions(['--root-dir=state'], environment())).options.rootDir, `${process.cwd()}/state`);
});

test('warnings name what has no meaning and why, what is deprecated and what can not work', async () => {
  const argv = ['--config=x', '--hairpin-mode=none', '--runonce', '--registry-burst=0'];
  const { warnings } = await loadOptions(argv, environment(`${head}volumeStatsAggPeriod: 5s`));
  assert.deepEqual(warnings, [
    {
      message:
        'option has no meaning on this node: it is for kubenet: here the engine or a CNI plugin connects pods, each by settings of its own',
      option: '--hairpin-mode',
    },
    {
      message: 'option has no meaning on this node: volumes are measured when somebody asks, once for all who ask at about the same time',
      option: 'volumeStatsAggPeriod',
      at: 'x:3:23',
    },
    { message: 'option is deprecated: newer Kubernetes releases discourage this mode', option: '--runonce' },
    { message: 'a burst of 0 lets no image pull start', option: '--registry-burst' },
  ]);
});

test('a flag that asks for what happens anyway is not warned of', async () => {
  const idle = ['--fail-swap-on=false', '--fail-cgroupv1=false', '--cgroup-driver=cgroupfs', '--hairpin-mode=promiscuous-bridge'];
  assert.deepEqual((await loadOptions(idle, environment())).warnings, []);
});

test('values that flags give are checked as those of the file are', async () => {
  assert.deepEqual(await problemsOf(['--max-open-files=-1', '--topology-manager-scope=x', '--reserved-cpus=1-']), [
    'invalid configuration: maxOpenFiles (--max-open-files) -1 must not be a negative number',
    'invalid configuration: topologyManagerScope (--topology-manager-scope) "x" must be one of: "container", or "pod"',
    'invalid configuration: unable to parse reservedSystemCPUs (--reserved-cpus) 1-, error: strconv.Atoi: parsing "": invalid syntax',
  ]);
});

test('of very many problems the first are named and the others counted', () => {
  const { problems } = new OptionsError(Array.from({ length: 1_000 }, (_, at) => `problem ${at}`));
  assert.deepEqual([problems.length, problems[0], problems.at(-1)], [101, 'problem 0', '900 more']);
});

test('of a very long problem the beginning is said', async () => {
  const [problem = ''] = await problemsOf(['--config=f'], `${head}cgroupDriver: ${'x'.repeat(500_000)}\n`);
  assert.match(problem, /^f:3:15 invalid configuration: cgroupDriver \(--cgroup-driver\) "x{4000,}…$/);
  assert.equal(problem.length, 4097);
});

test('a config file that cannot be read is named with its flag', async () => {
  const missing = { ...environment(), readFile: () => Promise.reject(new Error('no such file')) };
  await assert.rejects(loadOptions(['--config=/gone'], missing), new OptionsError(['flag --config: cannot read /gone: no such file']));
});

test('all that is wrong is said at once: with flags, with the file, and with what they come to', async () => {
  const file = `${head}maxPods: many\nauthorization: {mode: x}\nimageGCLowThresholdPercent: 90\nkubeAPIQPS: -1\nimagePullCredentialsVerificationPolicy: x\n`;
  assert.deepEqual(await problemsOf(['--config=f', '--max-podz=1', '--port=x', '--read-only-port=-1'], file), [
    'unknown flag --max-podz; did you mean --max-pods?',
    'flag --port: expected a whole number from -2147483648 to 2147483647, found "x"',
    'f:3:10 maxPods: expected a whole number from -2147483648 to 2147483647, found "many"',
    'f:4:23 authorization.mode: expected AlwaysAllow or Webhook, found "x"',
    'f:5:29 invalid configuration: imageGCLowThresholdPercent (--image-gc-low-threshold) 90 must be less than imageGCHighThresholdPercent (--image-gc-high-threshold) 85',
    'f:6:13 invalid configuration: kubeAPIQPS (--kube-api-qps) -1 must not be a negative number',
    'f:7:41 invalid configuration: option "x" specified for imagePullCredentialsVerificationPolicy. Valid options are "NeverVerify", "NeverVerifyPreloadedImages", "NeverVerifyAllowlistedImages" or "AlwaysVerify"',
    'invalid configuration: readOnlyPort (--read-only-port) -1 must be between 0 and 65535, inclusive',
  ]);
});

test('and of all files: flag by flag, then file by file and line by line, then what no file says', async () => {
  const files: Readonly<Record<string, string>> = {
    f: `${head}port: 70000\nmaxPods: many\nevictionHard: {memory.available: 5x}\nfeatureGates: {Nope: true, NodeSwap: maybe}\nmaxPodz: 1\n`,
    'd/1.conf': `${head}readOnlyPort: -1\nregistryBurst: x\nfeatureGates: {AlsoNope: true, AllAlpha: x}\n`,
    'd/2.conf': `${head}featureGates: {PodLevelResources: false, InPlacePodLevelResourcesVerticalScaling: true}\ncgroupDriver: openrc\n`,
    'd/3.conf': '',
  };
  const argv = [
    '--nope',
    '--config=f',
    '--port=x',
    '--config-dir=d',
    '--feature-gates=Nope2=true,NodeSwap=5,X',
    '--kube-api-qps=-1',
    'stray',
  ];
  const error: unknown = await loadOptions(argv, {
    ...environment(),
    readFile: async (path) => {
      const text = files[path];
      if (text === undefined) throw new Error('no such file');
      return text;
    },
    listFiles: () => Promise.resolve(['0.conf', '1.conf', '2.conf', '3.conf']),
  }).catch((refusal: unknown) => refusal);
  assert.ok(error instanceof OptionsError);
  assert.deepEqual(
    error.problems.map((problem) => problem.replace(/^(unknown flag --\w+|unexpected argument "\w+").*/, '$1')),
    [
      'unknown flag --nope',
      'flag --port: expected a whole number from -2147483648 to 2147483647, found "x"',
      'flag --feature-gates: expected pairs such as A=true,B=false (unrecognized feature gate: Nope2; invalid value of NodeSwap=5, err: strconv.ParseBool: parsing "5": invalid syntax; missing bool value for X), found "Nope2=true,NodeSwap=5,X"',
      'unexpected argument "stray"',
      'flag --config-dir: cannot read d/0.conf: no such file',
      'f:4:10 maxPods: expected a whole number from -2147483648 to 2147483647, found "many"',
      `f:5:15 invalid configuration: evictionHard (--eviction-hard) memory.available "5x": quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'`,
      'f:6:22 featureGates: unrecognized feature gate: Nope',
      'f:6:38 featureGates.NodeSwap: expected true or false, found "maybe"',
      'd/1.conf:3:15 invalid configuration: readOnlyPort (--read-only-port) -1 must be between 0 and 65535, inclusive',
      'd/1.conf:4:16 registryBurst: expected a whole number from -2147483648 to 2147483647, found "x"',
      'd/1.conf:5:26 featureGates: unrecognized feature gate: AlsoNope',
      'd/1.conf:5:42 featureGates.AllAlpha: expected true or false, found "x"',
      'd/2.conf:3:83 featureGates: InPlacePodLevelResourcesVerticalScaling is enabled, but depends on features that are disabled: [PodLevelResources]',
      'd/2.conf:4:15 invalid configuration: cgroupDriver (--cgroup-driver) "openrc" must be cgroupfs or systemd',
      'd/3.conf: the file is empty; expected a KubeletConfiguration',
      'invalid configuration: kubeAPIQPS (--kube-api-qps) -1 must not be a negative number',
    ],
  );
  assert.deepEqual(
    error.warnings.map(({ option, at }) => `${at} ${option}`),
    ['f:7:1 maxPodz'],
  );
});

test('what could not be read hides nothing that only has a word in common with it', async () => {
  assert.deepEqual(
    await problemsOf(['--config=f'], `${head}port: x\ntracing: {endpoint: "dns://a:b"}\ncontainerRuntimeEndpoint: nope://x\n`),
    [
      'f:3:7 port: expected a whole number from -2147483648 to 2147483647, found "x"',
      'f:4:21 tracing.endpoint: Invalid value: "dns://a:b": parse "dns://a:b": invalid port ":b" after host',
      'f:5:27 invalid configuration: containerRuntimeEndpoint (--container-runtime-endpoint) "nope://x": expected unix:///PATH or tcp://HOST:PORT',
    ],
  );
});

test('a flag without meaning that would be dangerous to pass over is refused, and not where it asks for nothing', async () => {
  assert.deepEqual(await problemsOf(['--etcd_config=/etc/etcd.conf']), [
    'flag --etcd-config is refused: pods come from the API server, and no longer from etcd, so the node would stand without its pods: use --kubeconfig',
  ]);
  assert.deepEqual(await problemsOf(['--etcd-config=']), []);
});

describe('names of older releases', () => {
  test('still work, with a warning each', async () => {
    const file = `${head}rootDirectory: /var/lib/x\nmanifestURL: http://a/\nnodeLabels: {a: b}\nCgroupsPerQOS: true\nmaxContainerCount: 7\nconfig: m\n`;
    const argv = ['--config=/etc/f', '--network_container_image=pause:1', '--sync_frequency=5s', '--experimental-bootstrap-kubeconfig=/b'];
    const { options, warnings, origins } = await loadOptions(argv, environment(file));
    assert.deepEqual(
      [
        options.rootDir,
        options.manifestUrl,
        options.nodeLabels,
        options.cgroupsPerQos,
        options.maximumDeadContainers,
        options.podManifestPath,
      ],
      ['/var/lib/x', 'http://a/', { a: 'b' }, true, 7, '/etc/m'],
    );
    assert.deepEqual([options.podInfraContainerImage, options.syncFrequencyMs, options.bootstrapKubeconfig], ['pause:1', 5_000, '/b']);
    assert.deepEqual([origins.rootDir, origins.syncFrequencyMs], ['file', 'flag']);
    assert.deepEqual(
      warnings.filter(({ message }) => /its name is|it is the flag/.test(message)).map(({ option, message, at }) => [option, message, at]),
      [
        ['rootDirectory', 'config field is deprecated: it is the flag --root-dir', '/etc/f:3:1'],
        ['manifestURL', 'config field is deprecated: its name is staticPodURL', '/etc/f:4:1'],
        ['nodeLabels', 'config field is deprecated: it is the flag --node-labels', '/etc/f:5:1'],
        ['CgroupsPerQOS', 'config field is deprecated: its name is cgroupsPerQOS', '/etc/f:6:1'],
        ['maxContainerCount', 'config field is deprecated: it is the flag --maximum-dead-containers', '/etc/f:7:1'],
        ['config', 'config field is deprecated: its name is staticPodPath', '/etc/f:8:1'],
        ['--network_container_image', 'flag is deprecated: its name is --pod-infra-container-image', undefined],
        ['--sync_frequency', 'flag is deprecated: its name is --sync-frequency', undefined],
        ['--experimental-bootstrap-kubeconfig', 'flag is deprecated: its name is --bootstrap-kubeconfig', undefined],
      ],
    );
  });

  test('give way to the present name, and their faults are where they are written', async () => {
    const both = await loadOptions(['--config=f'], environment(`${head}manifestURL: http://a/\nstaticPodURL: http://b/\n`));
    assert.equal(both.options.manifestUrl, 'http://b/');
    assert.deepEqual(await problemsOf(['--config=f'], `${head}manifestURL: ftp://a/\nmanifestURLHeader: x`), [
      'f:3:14 invalid configuration: staticPodURL (--manifest-url) must be an http or https URL',
      'f:4:20 manifestURLHeader: expected a map from header name to a list of values, found a string',
    ]);
  });

  test('--config names manifests where it leads to a directory or to one of them', async () => {
    const pod = 'apiVersion: v1\nkind: Pod\nmetadata: {name: a}\n';
    const directory = (...names: readonly string[]) => ({
      ...environment(),
      readFile: () => Promise.reject(new NoFileError('a directory')),
      listFiles: () => Promise.resolve(names),
    });
    for (const surroundings of [environment(pod), environment(JSON.stringify({ kind: 'Pod' }, null, 2)), directory('a.yaml')]) {
      const { options, warnings } = await loadOptions(['--config=/etc/pods'], surroundings);
      assert.deepEqual([options.podManifestPath, options.configFile], ['/etc/pods', '']);
      assert.deepEqual(warnings, [{ message: 'manifests are named by --pod-manifest-path by now', option: '--config' }]);
    }
    await assert.rejects(
      loadOptions(['--config=/d'], directory('10.conf')),
      new OptionsError(['flag --config: cannot read /d: it is a directory, not a file']),
    );
  });
});

test('with --help the config file is left alone and nothing is checked', async () => {
  const missing = { ...environment(), readFile: () => Promise.reject(new Error('no such file')) };
  const { options } = await loadOptions(['--help', '--config=/gone', '--sync-frequency=0'], missing);
  assert.equal(options.help, true);
});

describe('how often an unchanged node status is sent', () => {
  for (const [name, argv, file, expectedMs] of [
    ['is 5 minutes', [], head, 300_000],
    ['is how often it is computed where the file says only that', ['--config=x'], `${head}nodeStatusUpdateFrequency: 20s`, 20_000],
    ['is what the file says', ['--config=x'], `${head}nodeStatusUpdateFrequency: 20s\nnodeStatusReportFrequency: 1m`, 60_000],
    ['is not what a flag says of the other', ['--node-status-update-frequency=20s'], head, 300_000],
  ] as const) {
    test(name, async () => {
      assert.equal((await loadOptions(argv, environment(file))).options.nodeStatusReportFrequencyMs, expectedMs);
    });
  }
});

test('a config file gives taints as objects', async () => {
  const file = `${head}registerWithTaints: [{key: a, effect: NoSchedule}, {key: b, value: c, effect: NoExecute}]`;
  assert.deepEqual((await loadOptions(['--config=x'], environment(file))).options.registerWithTaints, [
    { key: 'a', value: '', effect: 'NoSchedule' },
    { key: 'b', value: 'c', effect: 'NoExecute' },
  ]);
});

test('a taint in the config file that is none is named with its place', async () => {
  assert.deepEqual(await problemsOf(['--config=x'], `${head}registerWithTaints: [{key: a, effect: Never}]`), [
    'x:3:39 registerWithTaints[0].effect: expected NoSchedule or PreferNoSchedule or NoExecute, found "Never"',
  ]);
});

test('eviction thresholds are the defaults unless they are named, and the others stay where the file asks for it', async () => {
  const hardOf = async (argv: readonly string[], text: string): Promise<unknown> =>
    (await loadOptions(['--config=x', ...argv], environment(`${head}${text}`))).options.evictionHard;
  const given = 'evictionHard: {memory.available: 1Gi, nodefs.available: 0%}\n';
  assert.deepEqual(await hardOf([], given), { 'memory.available': '1Gi', 'nodefs.available': '0%' });
  assert.deepEqual(await hardOf([], `${given}mergeDefaultEvictionSettings: true`), {
    'memory.available': '1Gi',
    'nodefs.available': '0%',
    'nodefs.inodesFree': '5%',
    'imagefs.available': '15%',
    'imagefs.inodesFree': '5%',
  });
  assert.deepEqual(await hardOf([], 'evictionHard: {}'), {});
  assert.deepEqual(await hardOf(['--eviction-hard=pid.available<5%'], given), { 'pid.available': '5%' });
  assert.deepEqual(await hardOf(['--eviction-hard='], given), {});
});

test('thresholds that cannot be kept to end the start', async () => {
  assert.deepEqual(
    await problemsOf(['--config=x', '--eviction-soft=memory.available<1Gi'], `${head}evictionPressureTransitionPeriod: -1s`),
    [
      'x:3:35 invalid configuration: evictionPressureTransitionPeriod (--eviction-pressure-transition-period) -1s must not be negative',
      'invalid configuration: evictionSoftGracePeriod (--eviction-soft-grace-period) memory.available: grace period must be specified for the soft eviction threshold memory.available',
    ],
  );
});

test('to exit on lock contention there has to be a lock file', async () => {
  const fault = 'cannot exit on lock file contention: no lock file specified';
  assert.deepEqual(await problemsOf(['--exit-on-lock-contention']), [fault]);
  assert.deepEqual(await problemsOf(['--exit-on-lock-contention', '--lock-file=/run/lock']), []);
  assert.deepEqual(await problemsOf(['--config=f', '--exit-on-lock-contention'], `${head}lockFilePath: /run/lock\n`), []);
});

test('what goes to standard error is a severity by its name or number', async () => {
  const of = async (text: string) => (await loadOptions([`--stderrthreshold=${text}`], environment())).options.logStandardErrorThreshold;
  assert.deepEqual(await Promise.all(['INFO', 'warning', '2', 'FATAL'].map(of)), ['info', 'warning', 'error', 'none']);
  assert.deepEqual(await problemsOf(['--stderrthreshold=4']), [
    'flag --stderrthreshold: expected INFO, WARNING, ERROR or FATAL, or a number from 0 to 3, found "4"',
  ]);
});
