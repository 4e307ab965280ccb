import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { loadOptions, OptionsError } from '../../../src/options/load-options.ts';

const head = 'apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n';

async function problemsOf(argv: readonly string[], files: Readonly<Record<string, string>> = {}): Promise<readonly string[]> {
  try {
    await loadOptions(argv, {
      hostname: 'n1',
      terminal: false,
      readFile: (path) => Promise.resolve(files[path] ?? ''),
      listFiles: () => Promise.resolve(['a.conf']),
    });
    return [];
  } catch (error) {
    assert(error instanceof OptionsError);
    return error.problems;
  }
}

/** Every map of a KubeletConfiguration with names that mean something: what is said of a name that means nothing. */
const maps: readonly (readonly [field: string, value: unknown, flag: string, fault: (name: string) => string])[] = [
  ['featureGates', true, '--feature-gates=NAME=true', (name) => `unrecognized feature gate: ${name}`],
  ['evictionHard', '1', '--eviction-hard=NAME<1', (name) => `${name} "1": unsupported eviction signal ${name}`],
  ['evictionSoft', '1', '--eviction-soft=NAME<1', (name) => `${name} "1": unsupported eviction signal ${name}`],
  ['evictionSoftGracePeriod', '1s', '--eviction-soft-grace-period=NAME=1s', (name) => `${name} "1s": unsupported eviction signal ${name}`],
  ['evictionMinimumReclaim', '1', '--eviction-minimum-reclaim=NAME=1', (name) => `${name} "1": unsupported eviction signal ${name}`],
  ['kubeReserved', '1', '--kube-reserved=NAME=1', (name) => `cannot reserve "${name}" resource`],
  ['systemReserved', '1', '--system-reserved=NAME=1', (name) => `cannot reserve "${name}" resource`],
  ['qosReserved', '1%', '--qos-reserved=NAME=1%', (name) => `cannot reserve "${name}" resource`],
  ['cpuManagerPolicyOptions', 'true', '--cpu-manager-policy-options=NAME=true', (name) => `unknown CPU Manager Policy option: "${name}"`],
  [
    'topologyManagerPolicyOptions',
    'true',
    '--topology-manager-policy-options=NAME=true',
    (name) => `unknown Topology Manager Policy option: "${name}"`,
  ],
];
const policies = ['--cpu-manager-policy=static', '--reserved-cpus=0', '--topology-manager-policy=restricted'];

for (const name of ['constructor', '__proto__']) {
  describe(`the name ${name} is told of as any other that means nothing`, () => {
    for (const [field, value, flag, fault] of maps) {
      const expected = fault(name);
      test(`${field} in YAML, JSON, a drop-in file and by its flag`, async () => {
        const flags = field === 'qosReserved' ? [...policies, '--feature-gates=QOSReserved=true'] : policies;
        const yaml = `${head}${field}: {${name}: ${JSON.stringify(value)}}\n`;
        const json = `{"apiVersion": "kubelet.config.k8s.io/v1beta1", "kind": "KubeletConfiguration", "${field}": {"${name}": ${JSON.stringify(value)}}}`;
        for (const [argv, files, at] of [
          [['--config=f'], { f: yaml }, 'f:3:'],
          [['--config=f'], { f: json }, 'f:1:'],
          [['--config=f', '--config-dir=d'], { f: head, 'd/a.conf': yaml }, 'd/a.conf:3:'],
          [[flag.replace('NAME', name)], {}, ''],
        ] as const) {
          const found = await problemsOf([...flags, ...argv], files);
          assert.ok(
            found.some((problem) => problem.startsWith(at) && problem.includes(expected)),
            `${argv.join(' ')}: ${found.join('\n')}`,
          );
        }
      });
    }

    test('and a value of another type at its own place', async () => {
      assert.deepEqual(await problemsOf(['--config=f'], { f: `${head}kubeReserved: {cpu: "1", ${name}: [1]}\n` }), [
        `f:3:${28 + name.length} kubeReserved.${name}: expected a string, found a list`,
      ]);
    });

    test('it is no version of TLS', async () => {
      const [flag = ''] = await problemsOf([`--tls-min-version=${name}`]);
      assert.match(flag, /^flag --tls-min-version: expected VersionTLS10 or /);
      const [field = ''] = await problemsOf(['--config=f'], { f: `${head}tlsMinVersion: ${name}\n` });
      assert.match(field, /^f:3:16 tlsMinVersion: expected VersionTLS10 or /);
    });

    test('and in memory of a NUMA node', async () => {
      const [fault = ''] = await problemsOf(['--config=f', '--memory-manager-policy=Static'], {
        f: `${head}reservedMemory: [{numaNode: 0, limits: {${name}: 1Gi}}]\n`,
      });
      assert.match(fault, new RegExp(name));
    });
  });
}

test('a header may have any name', async () => {
  const { options } = await loadOptions(['--config=f'], {
    hostname: 'n1',
    terminal: false,
    readFile: () => Promise.resolve(`${head}staticPodURLHeader: {__proto__: [a, b], constructor: [c]}\n`),
  });
  assert.deepEqual(Object.entries(options.manifestUrlHeader), [
    ['__proto__', ['a', 'b']],
    ['constructor', ['c']],
  ]);
});
