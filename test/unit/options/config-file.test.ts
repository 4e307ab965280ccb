import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { parseConfigFile } from '../../builders/parse-config-file.ts';

const head = 'apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n';
const file = '/etc/kubelet.yaml';
/** Each list holds the one before it nine times. */
const unfolding = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h']
  .map((name, at, names) =>
    at === 0
      ? ''
      : `${name}: &${name} [${Array(9)
          .fill(`*${names[at - 1]}`)
          .join(', ')}]\n`,
  )
  .join('');

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
      assert.deepEqual(await parseConfigFile(text, file), { values, idle: new Map(), warnings: [], problems: [] });
    });
  }
});

test('fields of real kubelets that decide nothing here are named, nested ones by their path', async () => {
  const text = `${head}iptablesDropBit: 7\nlogging: {options: {json: {infoBufferSize: 1024}}}\n`;
  const parsed = await parseConfigFile(text, file);
  assert.deepEqual(parsed.problems, []);
  assert.deepEqual(Object.fromEntries([...parsed.idle].map(([{ config }, value]) => [config, value])), {
    iptablesDropBit: 7,
    'logging.options.json.infoBufferSize': '1024',
  });
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
    [
      'values of the wrong type',
      `${head}tracing: {samplingRatePerMillion: many}\nreservedMemory: [{numaNode: 0, limits: {memory: lots}}]\nlogging: {flushFrequency: soon}`,
      [
        `${file}:3:35 tracing.samplingRatePerMillion: expected a whole number from -2147483648 to 2147483647, found "many"`,
        `${file}:4:49 reservedMemory[0].limits.memory: expected a quantity such as 500m, 1.5 or 64Mi, found "lots"`,
        `${file}:5:27 logging.flushFrequency: expected a whole number of nanoseconds, or a duration such as 1m30s or 500ms, found "soon"`,
      ],
    ],
  ] as const) {
    test(name, async () => {
      assert.deepEqual((await parseConfigFile(text, file)).problems, problems);
    });
  }

  test('several faults, in the order of the file', async () => {
    const { problems } = await parseConfigFile(`${head}maxPods: many\nsyncFrequency: 1\nclusterDNS: none\n`, file);
    assert.deepEqual(
      problems.map((problem) => problem.split(' ')[0]),
      [`${file}:3:10`, `${file}:4:16`, `${file}:5:13`],
    );
  });
});

describe('a config file is read all the same, with one warning, for', () => {
  for (const [name, text, warning, values] of [
    [
      'an unknown field',
      `${head}staticPodPaht: /a\nmaxPods: 5`,
      { option: 'staticPodPaht', message: 'unknown config field is ignored; did you mean staticPodPath?', at: `${file}:3:1` },
      { maxPods: 5 },
    ],
    [
      'a field in the wrong case',
      `${head}maxpods: 1\nsyncFrequency: 5s`,
      { option: 'maxpods', message: 'unknown config field is ignored; did you mean maxPods?', at: `${file}:3:1` },
      { syncFrequencyMs: 5_000 },
    ],
    [
      'an unknown nested field',
      `${head}authentication:\n  webook:\n    enabled: true\n  anonymous: {enabled: true}`,
      { option: 'authentication.webook', message: 'unknown config field is ignored; did you mean webhook?', at: `${file}:4:3` },
      { anonymousAuth: true },
    ],
    [
      'an unknown field of an item',
      `${head}registerWithTaints:\n- {key: a, effect: NoSchedule, vlaue: b}`,
      { option: 'registerWithTaints[0].vlaue', message: 'unknown config field is ignored', at: `${file}:4:32` },
      { registerWithTaints: [{ key: 'a', value: '', effect: 'NoSchedule' }] },
    ],
    [
      'a field that is set twice',
      `${head}maxPods: 5\nmaxPods: 6`,
      { option: 'maxPods', message: 'config field is set twice: the last one counts', at: `${file}:4:1` },
      { maxPods: 6 },
    ],
    [
      'a quoted field that is set twice',
      `${head}'maxPods': 5\n"maxPods": 6`,
      { option: 'maxPods', message: 'config field is set twice: the last one counts', at: `${file}:4:1` },
      { maxPods: 6 },
    ],
    [
      'a field with a name that every object has',
      `${head}__proto__: {maxPods: 7}\nmaxPods: 5`,
      { option: '__proto__', message: 'unknown config field is ignored', at: `${file}:3:1` },
      { maxPods: 5 },
    ],
    [
      'a field that is set twice in JSON',
      '{"apiVersion": "kubelet.config.k8s.io/v1beta1", "kind": "KubeletConfiguration", "maxPods": 5,\n"maxPods": 6}',
      { option: 'maxPods', message: 'config field is set twice: the last one counts', at: `${file}:2:1` },
      { maxPods: 6 },
    ],
  ] as const) {
    test(name, async () => {
      const read = await parseConfigFile(text, file);
      assert.deepEqual([read.problems, read.warnings, read.values], [[], [warning], values]);
    });
  }

  test('each of several, in the order of the file', async () => {
    const { warnings, problems } = await parseConfigFile(`${head}nope: 1\nmaxPods: 5\nmaxPods: 6\nnever: 2\n`, file);
    assert.deepEqual([problems, warnings.map(({ at }) => at)], [[], [`${file}:3:1`, `${file}:5:1`, `${file}:6:1`]]);
  });

  test('ten thousand unknown fields, of which the first are named and the others counted', async () => {
    const many = Array.from({ length: 10_000 }, (_, i) => `nope${i}: {a: [${i}]}`).join('\n');
    const { warnings, problems, values } = await parseConfigFile(`${head}${many}\nmaxPods: 5\n`, file);
    assert.deepEqual([problems, warnings.length, values], [[], 51, { maxPods: 5 }]);
    assert.equal(warnings.at(-1)?.message, '9950 more unknown or repeated config fields');
  });
});

test('flushFrequency is a duration or a whole number of nanoseconds, and 0 is not set', async () => {
  for (const [written, read] of [
    ['5s', ['5s']],
    ['1m30s', ['1m30s']],
    ['5000000000', [5_000_000_000]],
    ['0', []],
    ['0s', []],
  ] as const) {
    const { idle, problems } = await parseConfigFile(`${head}logging: {flushFrequency: ${written}}`, file);
    assert.deepEqual([problems, [...idle.values()]], [[], read], written);
  }
});

describe('a config file is refused, in a short time, that', () => {
  for (const [name, text, problem] of [
    ['contains itself', `${head}featureGates: &a {b: *a}`, `${file}:3:22 the anchor "a" contains itself`],
    ['contains itself as a whole', `&a\n${head}nope: [*a]`, `${file}:4:8 the anchor "a" contains itself`],
    [
      'unfolds to very much',
      `${head}a: &a [1, 1]\n${unfolding}`,
      `${file}:1:1 Excessive alias count indicates a resource exhaustion attack`,
    ],
    ['is nested too deeply', `${head}nope: ${'['.repeat(100_000)}`, /^\/etc\/kubelet\.yaml:3:\d+ nested too deeply$/],
    [
      'is JSON that is nested too deeply',
      `${'{"a":'.repeat(100_000)}1${'}'.repeat(100_000)}`,
      /^\/etc\/kubelet\.yaml:1:\d+ nested too deeply$/,
    ],
    ['has a type that only YAML has', `${head}evictionHard: !!set {a}`, `${file}:3:21 evictionHard: expected a map, found a set`],
  ] as const) {
    test(name, async () => {
      const [first = ''] = (await parseConfigFile(text, file)).problems;
      if (typeof problem === 'string') assert.equal(first, problem);
      else assert.match(first, problem);
    });
  }
});

test('a hundred thousand items, repeated fields and unknown gates are read in a time that grows with their number', async () => {
  const many = <T>(of: (at: number) => T): readonly T[] => Array.from({ length: 20_000 }, (_, at) => of(at));
  const text = [
    head,
    'clusterDNS:',
    ...many((at) => `- a${at}`),
    ...many((at) => `maxPods: ${at}`),
    'featureGates:',
    ...many((at) => `  Gate${at}: true`),
  ].join('\n');
  const { problems } = await parseConfigFile(text, file);
  assert.equal(problems.length, 50);
  assert.match(problems[0] ?? '', /featureGates: unrecognized feature gate: Gate0$/);
});

test('an empty text is a field that is not set, whatever words it takes', async () => {
  const text = `${head}logging: {format: ""}\nconfigMapAndSecretChangeDetectionStrategy: ""\nauthorization: {mode: ""}\ntlsMinVersion: ""\nhealthzBindAddress: ""`;
  assert.deepEqual((await parseConfigFile(text, file)).problems, []);
});
