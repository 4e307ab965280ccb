import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { loadOptions, OptionsError } from '../../../../src/options/load-options.ts';

const head = 'apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n';

/** In the words of the rules alone: without places, and without what is refused for other reasons. */
async function problemsOf(text: string): Promise<readonly string[]> {
  try {
    await loadOptions(['--config=x'], { hostname: 'n1', terminal: false, readFile: () => Promise.resolve(head + text) });
    return [];
  } catch (error) {
    assert.ok(error instanceof OptionsError);
    return error.problems.filter((problem) => !problem.includes(' is refused: ')).map((problem) => problem.replace(/^x:\d+:\d+ /, ''));
  }
}

const allowlist = (pattern: string): string =>
  `imagePullCredentialsVerificationPolicy: NeverVerifyAllowlistedImages\npreloadedImagesVerificationAllowlist: [${JSON.stringify(pattern)}]`;
const wrongPattern = 'invalid configuration: invalid image pattern in `preloadedImagesVerificationAllowlist`:';

/** What the vectors of Kubernetes do not reach; the rest they hold. */
describe('values are refused in the words of a kubelet:', () => {
  for (const [text, problem] of [
    ['userNamespaces: {idsPerPod: 65535}', 'invalid configuration: userNamespaces.idsPerPod must not be less than 65536'],
    ['userNamespaces: {idsPerPod: 65537}', 'invalid configuration: userNamespaces.idsPerPod must be a multiple of 65536'],
    ['userNamespaces: {idsPerPod: 4294967296}', 'invalid configuration: userNamespaces.idsPerPod must not be more than 4294967295'],
    [allowlist(' a'), `${wrongPattern} leading/trailing spaces are not allowed:  a`],
    [allowlist(''), `${wrongPattern} the supplied pattern is too short: `],
    [allowlist('a/*/b'), `${wrongPattern} not a valid wildcard pattern, only patterns ending with '/*' are allowed: a/*/b`],
    [allowlist('/*'), `${wrongPattern} at least registry hostname is required`],
    [allowlist('a.io/b:1'), `${wrongPattern} neither tag nor digest is accepted in an image reference: a.io/b:1`],
    [
      'featureGates: {KubeletEnsureSecretPulledImages: false}\nimagePullCredentialsVerificationPolicy: AlwaysVerify',
      'invalid configuration: `imagePullCredentialsVerificationPolicy` must not be set if KubeletEnsureSecretPulledImages feature gate is not enabled',
    ],
    [
      'reservedSystemCPUs: 3-1',
      'invalid configuration: unable to parse reservedSystemCPUs (--reserved-cpus) 3-1, error: invalid range "3-1" (3 > 1)',
    ],
    [
      'reservedSystemCPUs: 1-2-3',
      'invalid configuration: unable to parse reservedSystemCPUs (--reserved-cpus) 1-2-3, error: strconv.Atoi: parsing "2-3": invalid syntax',
    ],
    [
      'reservedSystemCPUs: "9223372036854775808"',
      'invalid configuration: unable to parse reservedSystemCPUs (--reserved-cpus) 9223372036854775808, error: strconv.Atoi: parsing "9223372036854775808": value out of range',
    ],
    [
      'reservedMemory: [{numaNode: 1, limits: {memory: 1Gi}}, {numaNode: 1, limits: {memory: 2Gi}}]',
      'invalid configuration: the reserved memory has a duplicate value for NUMA node 1 and resource "memory"',
    ],
    ['tracing: {samplingRatePerMillion: -1}', 'tracing.samplingRatePerMillion: Invalid value: -1: sampling rate must be positive'],
    [
      'tracing: {samplingRatePerMillion: 1000001}',
      'tracing.samplingRatePerMillion: Invalid value: 1000001: sampling rate per million must be less than or equal to one million',
    ],
    [
      'tracing: {endpoint: "http://a"}',
      'tracing.endpoint: Invalid value: "http://a": unsupported scheme: http.  Options are none, dns, unix, or unix-abstract.  See https://github.com/grpc/grpc/blob/master/doc/naming.md',
    ],
    ['tracing: {endpoint: "a:b"}', 'tracing.endpoint: Invalid value: "dns://a:b": parse "dns://a:b": invalid port ":b" after host'],
    [
      'showHiddenMetricsForVersion: "1.34"',
      `invalid showHiddenMetricsForVersion: showHiddenMetricsForVersion: Invalid value: "1.34": must be omitted or have the value '1.35'; only the previous minor version is allowed`,
    ],
    ['logging: {flushFrequency: -5s}', 'logging.flushFrequency: Invalid value: "-5s": Must be greater than zero'],
    ['logging: {flushFrequency: -5}', 'logging.flushFrequency: Invalid value: -5: Must be greater than zero'],
    ['logging: {vmodule: [{verbosity: 1}]}', 'logging.vmodule[0]: Required value: File pattern must not be empty'],
    [
      'logging: {vmodule: [{filePattern: "a=b"}]}',
      'logging.vmodule[0]: Invalid value: "a=b": File pattern must not contain equal sign or comma',
    ],
    ['logging: {format: json, vmodule: [{filePattern: a}]}', 'logging.vmodule: Forbidden: Only supported for text log format'],
    [
      'logging: {options: {text: {splitStream: true}}}',
      'logging.options.text.splitStream: Forbidden: Feature LoggingAlphaOptions is disabled',
    ],
    [
      'logging: {options: {json: {infoBufferSize: 1Ki}}}',
      'logging.options.json.infoBufferSize: Forbidden: Feature LoggingAlphaOptions is disabled',
    ],
    [
      'enableSystemLogQuery: true\nenableSystemLogHandler: false',
      'invalid configuration: enableSystemLogHandler is required for enableSystemLogQuery',
    ],
    [
      'featureGates: {GracefulNodeShutdownBasedOnPodPriority: false}\nshutdownGracePeriodByPodPriority: [{priority: 1}]',
      'invalid configuration: Specifying shutdownGracePeriodByPodPriority requires feature gate GracefulNodeShutdownBasedOnPodPriority',
    ],
    [
      'featureGates: {AllBeta: false}\nshutdownGracePeriod: 5s',
      'invalid configuration: specifying shutdownGracePeriod or shutdownGracePeriodCriticalPods requires feature gate GracefulNodeShutdown',
    ],
    [
      'featureGates: {CustomCPUCFSQuotaPeriod: false}\ncpuCFSQuotaPeriod: 50ms',
      'invalid configuration: cpuCFSQuotaPeriod (--cpu-cfs-quota-period) {50ms} requires feature gate CustomCPUCFSQuotaPeriod',
    ],
  ] as const) {
    test(text.replaceAll('\n', ', '), async () => {
      assert.deepEqual(await problemsOf(text), [problem]);
    });
  }
});

describe('these are as well as a kubelet has them:', () => {
  for (const text of [
    allowlist('a.io/b/*'),
    allowlist('a.io:5000/b'),
    'reservedSystemCPUs: 0-3,7',
    'userNamespaces: {idsPerPod: 131072}',
    'tracing: {endpoint: "unix:///run/a.sock", samplingRatePerMillion: 1000000}',
    'tracing: {endpoint: "[::1]:4317"}',
    'tracing: {endpoint: ""}',
    'showHiddenMetricsForVersion: "1.35"',
    'featureGates: {LoggingAlphaOptions: true}\nlogging: {options: {text: {splitStream: true, infoBufferSize: 1Ki}}}',
    'reservedMemory: [{limits: {memory: 1Gi, hugepages-2Mi: 2Mi}}, {numaNode: 1, limits: {memory: 1Gi}}]',
    'runOnce: true',
    'podLogsDir: logs',
  ]) {
    test(text.replaceAll('\n', ', '), async () => assert.deepEqual(await problemsOf(text), []));
  }
});
