import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { parseConfigFile } from '../../../src/options/config-file.ts';

const head = 'apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n';
const file = '/etc/kubelet.yaml';

describe('a config file sets', () => {
  for (const [name, text, values] of [
    ['nothing but its type', head, {}],
    ['durations', `${head}syncFrequency: 1m30s\nfileCheckFrequency: "5s"`, { syncFrequencyMs: 90_000, fileCheckFrequencyMs: 5_000 }],
    ['zeros as unset where Kubernetes has it so', `${head}syncFrequency: 0s\nregistryBurst: 0\nregistryPullQPS: 0`, { registryQps: 0 }],
    ['null as unset', `${head}syncFrequency:\nserializeImagePulls: ~`, {}],
    ['paths from its own directory', `${head}staticPodPath: manifests`, { podManifestPath: '/etc/manifests' }],
    ['the resolver configuration likewise', `${head}resolvConf: node-resolv.conf`, { resolvConf: '/etc/node-resolv.conf' }],
    ['absolute paths as they are', `${head}staticPodPath: /m`, { podManifestPath: '/m' }],
    ['headers', `${head}staticPodURLHeader: {a: [b, c]}`, { manifestUrlHeader: { a: ['b', 'c'] } }],
    ['nested fields', `${head}logging: {format: json, verbosity: 4}`, { logFormat: 'json', verbosity: 4 }],
    [
      'YAML 1.1 booleans and octals',
      `${head}serializeImagePulls: off\nregistryBurst: 010`,
      { serializeImagePulls: false, registryBurst: 8 },
    ],
    [
      'JSON',
      '{\n\t"apiVersion": "kubelet.config.k8s.io/v1beta1",\n\t"kind": "KubeletConfiguration",\n\t"maxParallelImagePulls": 4\n}\n',
      { maxParallelImagePulls: 4 },
    ],
    [
      'authentication and authorisation, empty texts and zeros aside',
      `${head}address: ""\nauthentication: {anonymous: {enabled: true}, x509: {clientCAFile: ca.pem}, webhook: {cacheTTL: 0s}}\nauthorization: {mode: ""}\ntlsMinVersion: VersionTLS13\ntlsCipherSuites: [TLS_AES_128_GCM_SHA256]`,
      {
        anonymousAuth: true,
        clientCaFile: '/etc/ca.pem',
        tlsMinVersion: 'VersionTLS13',
        tlsCipherSuites: ['TLS_AES_128_GCM_SHA256'],
      },
    ],
    ['through anchors', `${head}syncFrequency: &f 5s\nhttpCheckFrequency: *f`, { syncFrequencyMs: 5_000, httpCheckFrequencyMs: 5_000 }],
  ] as const) {
    test(name, async () => {
      assert.deepEqual(await parseConfigFile(text, file), { values, withoutEffect: [], problems: [] });
    });
  }
});

test('fields of real kubelets that have no effect yet are named, nested ones by their path', async () => {
  const text = `${head}evictionHard: {memory.available: 100Mi}\ncrashLoopBackOff: {maxContainerRestartPeriod: 10s}\ntracing: {any: 1}\n`;
  const parsed = await parseConfigFile(text, file);
  assert.deepEqual(parsed.problems, []);
  assert.deepEqual(parsed.withoutEffect.toSorted(), ['crashLoopBackOff.maxContainerRestartPeriod', 'evictionHard', 'tracing']);
});

describe('a config file is refused for', () => {
  for (const [name, text, problems] of [
    ['being empty', '', [`${file}: the file is empty; expected a KubeletConfiguration`]],
    ['having two documents', `${head}---\n${head}`, [`${file}:3:1 expected one KubeletConfiguration, found another document`]],
    ['being a list', '- a', [`${file}:1:1 expected a KubeletConfiguration, found a list`]],
    [
      'another type',
      'apiVersion: v1\nkind: Pod\n',
      [
        `${file}:1:13 apiVersion: expected kubelet.config.k8s.io/v1beta1, found "v1"`,
        `${file}:2:7 kind: expected KubeletConfiguration, found "Pod"`,
      ],
    ],
    [
      'no type',
      'runOnce: true',
      [
        `${file}:1:1 apiVersion: expected kubelet.config.k8s.io/v1beta1, found none`,
        `${file}:1:1 kind: expected KubeletConfiguration, found none`,
      ],
    ],
    ['an unknown field', `${head}staticPodPaht: /a`, [`${file}:3:1 staticPodPaht: unknown field; did you mean staticPodPath?`]],
    ['a field in the wrong case', `${head}syncfrequency: 1s`, [`${file}:3:1 syncfrequency: unknown field; did you mean syncFrequency?`]],
    [
      'an unknown nested field',
      `${head}authentication:\n  webook:\n    enabled: true`,
      [`${file}:4:3 authentication.webook: unknown field; did you mean webhook?`],
    ],
    [
      'a duration without a unit',
      `${head}syncFrequency: 60`,
      [`${file}:3:16 syncFrequency: expected a duration such as 1m30s or 500ms, found number 60`],
    ],
    [
      'a duration that is none',
      `${head}syncFrequency: soon`,
      [`${file}:3:16 syncFrequency: expected a duration such as 1m30s or 500ms, found "soon"`],
    ],
    [
      'a number in quotes',
      `${head}maxPods: "5"`,
      [`${file}:3:10 maxPods: expected a whole number from -2147483648 to 2147483647, found "5"`],
    ],
    ['an item of the wrong type', `${head}clusterDNS:\n- 10.0.0.1\n- 4`, [`${file}:5:3 clusterDNS[1]: expected a string, found number 4`]],
    ['a struct that is none', `${head}logging: text`, [`${file}:3:10 logging: expected a map, found "text"`]],
    [
      'a header that is no list, whose value stays unsaid',
      `${head}staticPodURLHeader:\n  Authorization: Bearer sesame`,
      [`${file}:4:18 staticPodURLHeader.Authorization: expected a list of strings, found a string`],
    ],
    ['a field set twice', `${head}runOnce: true\nrunOnce: false`, [`${file}:4:1 Map keys must be unique`]],
  ] as const) {
    test(name, async () => {
      assert.deepEqual((await parseConfigFile(text, file)).problems, problems);
    });
  }

  test('several faults, in the order of the file', async () => {
    const { problems } = await parseConfigFile(`${head}nonsense: 1\nsyncFrequency: 1\nmoreNonsense: 2\n`, file);
    assert.deepEqual(
      problems.map((problem) => problem.split(' ')[0]),
      [`${file}:3:1`, `${file}:4:16`, `${file}:5:1`],
    );
  });
});
