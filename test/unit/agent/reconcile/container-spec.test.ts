import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { ApiError } from '../../../../src/model/api-error.ts';
import { referenceKey } from '../../../../src/model/pod-references.ts';
import type { Container } from '../../../../src/model/pod.ts';
import { noAdditions } from '../../../../src/agent/reconcile/pod-participants.ts';
import { containerSpec, type ContainerSpecFacts } from '../../../../src/agent/reconcile/container-spec.ts';
import { aContainer, aPod } from '../../../builders/a-pod.ts';

const objects: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'ConfigMap default/settings': { level: 'debug', 'not=a name': 'x' },
  'Secret default/login': { password: Buffer.from('s3cret').toString('base64') },
};
const service = {
  metadata: { namespace: 'default', name: 'my-db' },
  spec: { clusterIP: '10.0.0.9', ports: [{ port: 5432 }] },
};
const told: string[] = [];
const facts: ContainerSpecFacts = {
  podIps: async () => ['10.0.0.2', 'fd00::2'],
  hostIp: '192.0.2.1',
  additions: async (env) => ({ ...noAdditions, env }),
  objects: {
    get: async (reference) => {
      const data = objects[referenceKey(reference)];
      if (!data) throw new ApiError(404, 'NotFound', `${reference.kind.toLowerCase()} "${reference.name}" not found`);
      return { metadata: { name: reference.name, uid: '1', resourceVersion: '1' }, data };
    },
  },
  volumeFile: async (volume, path) =>
    volume === 'v' ? { path: `/volumes/v/${path}`, text: path === 'login.env' ? "USER='me'\nEMPTY=''\n" : 'nonsense' } : undefined,
  services: [service],
  masterServiceNamespace: 'default',
  allocatable: {},
  onInvalidNames: (message) => told.push(message),
};
const resolve = (over: Partial<Container>, more: Partial<ContainerSpecFacts> = {}) => {
  const container = aContainer('app', over);
  return containerSpec(
    aPod('web', { nodeName: 'node-1', containers: [container] }),
    container,
    { attempt: 0, imageRef: 'sha256:1' },
    AbortSignal.timeout(1000),
    { ...facts, ...more },
  );
};

test('variables may use those before them, and command and arguments all of them', async () => {
  const spec = await resolve({
    env: [
      { name: 'A', value: 'a' },
      { name: 'B', value: '$(A)b $(C) $$(A)' },
      { name: 'C', value: 'c' },
    ],
    command: ['run', '$(B)'],
    args: ['$(NONE)'],
  });
  assert.deepEqual(spec.env[1], { name: 'B', value: 'ab $(C) $(A)' });
  assert.deepEqual([spec.command, spec.args], [['run', 'ab $(C) $(A)'], ['$(NONE)']]);
});

test("an empty command or empty arguments are none: the image's hold", async () => {
  const spec = await resolve({ command: [], args: [] });
  assert.deepEqual([spec.command, spec.args], [undefined, undefined]);
});

test('an object without data has no keys', async () => {
  const get = async () => JSON.parse('{"metadata":{"name":"s","uid":"1","resourceVersion":"1"},"data":null}');
  const ref = { name: 's', key: 'k', optional: true };
  const over = { envFrom: [{ configMapRef: { name: 's' } }], env: [{ name: 'A', valueFrom: { secretKeyRef: ref } }] };
  const { env } = await resolve(over, { objects: { get }, services: [] });
  assert.deepEqual(env, []);
});

test('fields of the pod and resources of the container become values', async () => {
  const field = (name: string, fieldPath: string) => ({ name, valueFrom: { fieldRef: { apiVersion: 'v1', fieldPath } } });
  const { env } = await resolve({
    resources: { limits: { memory: '64Mi' } },
    env: [
      field('NAME', 'metadata.name'),
      field('NODE', 'spec.nodeName'),
      field('IP', 'status.podIP'),
      field('IPS', 'status.podIPs'),
      field('HOST', 'status.hostIP'),
      { name: 'MEM', valueFrom: { resourceFieldRef: { resource: 'limits.memory', divisor: '1Mi' } } },
    ],
  });
  assert.deepEqual(
    env.slice(0, 6).map(({ value }) => value),
    ['web', 'node-1', '10.0.0.2', '10.0.0.2,fd00::2', '192.0.2.1', '64'],
  );
});

test('keys of ConfigMaps and Secrets become variables, one by one or all with a prefix; names that cannot be are skipped and told', async () => {
  const { env } = await resolve({
    envFrom: [{ prefix: 'CFG_', configMapRef: { name: 'settings' } }, { secretRef: { name: 'none', optional: true } }],
    env: [
      { name: 'LEVEL', valueFrom: { configMapKeyRef: { name: 'settings', key: 'level' } } },
      { name: 'URL', value: '$(LEVEL)@$(MY_DB_SERVICE_HOST)' },
      { name: 'PASSWORD', valueFrom: { secretKeyRef: { name: 'login', key: 'password' } } },
      { name: 'ABSENT', valueFrom: { secretKeyRef: { name: 'login', key: 'none', optional: true } } },
      { name: 'MY_DB_PORT', value: 'mine' },
    ],
  });
  const values = Object.fromEntries(env.map(({ name, value }) => [name, value]));
  assert.equal(values['CFG_level'], 'debug');
  assert.deepEqual([values['URL'], values['PASSWORD'], values['MY_DB_PORT']], ['debug@10.0.0.9', 's3cret', 'mine']);
  assert.ok(!('ABSENT' in values) && !('CFG_not=a name' in values));
  assert.deepEqual(told.splice(0), [
    'Keys [CFG_not=a name] from the EnvFrom configMap default/settings were skipped since they are considered invalid environment variable names.',
  ]);
});

test('a reference that leads nowhere holds the container, in the words of the kubelet', async () => {
  const faults: readonly (readonly [Partial<Container>, string])[] = [
    [{ env: [{ name: 'P', valueFrom: { secretKeyRef: { name: 's', key: 'k' } } }] }, 'secret "s" not found'],
    [{ env: [{ name: 'P', valueFrom: { secretKeyRef: { name: 'login', key: 'k' } } }] }, "couldn't find key k in Secret default/login"],
    [
      { env: [{ name: 'P', valueFrom: { configMapKeyRef: { name: 'settings', key: 'k' } } }] },
      "couldn't find key k in ConfigMap default/settings",
    ],
    [{ envFrom: [{ configMapRef: { name: 'c' } }] }, 'configmap "c" not found'],
  ];
  for (const [over, message] of faults) await assert.rejects(resolve(over), { reason: 'CreateContainerConfigError', message });
  const { enableServiceLinks: _, ...spec } = aPod('web').spec;
  const undecided = { ...aPod('web'), spec };
  await assert.rejects(containerSpec(undecided, aContainer('app'), { attempt: 0, imageRef: '' }, AbortSignal.timeout(1000), facts), {
    message: 'nil pod.spec.enableServiceLinks encountered, cannot construct envvars',
  });
  await assert.rejects(resolve({}, { services: undefined }), {
    message: 'services have not yet been read at least once, cannot construct envvars',
  });
});

describe('a variable in a file of a volume', () => {
  const inFile = (over: object): Partial<Container> => ({
    env: [{ name: 'A', valueFrom: { fileKeyRef: { volumeName: 'v', path: 'login.env', key: 'USER', ...over } } }],
  });

  test('is what stands there', async () => {
    const { env } = await resolve(inFile({}), { services: [] });
    assert.deepEqual(env, [{ name: 'A', value: 'me' }]);
  });

  test('is of the same reading as all others in that file', async () => {
    let reads = 0;
    const volumeFile = async (): Promise<{ path: string; text: string }> => ({ path: '/f', text: `A='${++reads}'\nB='${reads}'` });
    const of = (name: string, path: string) => ({ name, valueFrom: { fileKeyRef: { volumeName: 'v', path, key: name } } });
    const { env } = await resolve({ env: [of('A', 'one'), of('B', 'one'), of('B', 'two')] }, { services: [], volumeFile });
    assert.deepEqual(env, [
      { name: 'A', value: '1' },
      { name: 'B', value: '2' },
    ]);
    assert.equal(reads, 2);
  });

  test('is left out where it has no value and may', async () => {
    for (const key of ['NONE', 'EMPTY']) {
      const { env } = await resolve(inFile({ key, optional: true }), { services: [] });
      assert.deepEqual(env, []);
    }
  });

  for (const [why, over, message] of [
    ['has no value', { key: 'NONE' }, 'environment variable key "NONE" not found in file "/volumes/v/login.env"'],
    ['is in no volume', { volumeName: 'w' }, 'cannot find the volume "w" referenced by FileKeyRef'],
    [
      'is in a file of another kind, optional or not',
      { path: 'other', optional: true },
      "couldn't parse env file: invalid environment variable format at line 1: missing '='",
    ],
  ] as const) {
    test(`holds the container where it ${why}`, () =>
      assert.rejects(resolve(inFile(over)), { reason: 'CreateContainerConfigError', message }));
  }

  test('holds the container where the file cannot be read', () =>
    assert.rejects(resolve(inFile({}), { volumeFile: () => Promise.reject(new Error('it is a pipe, not a file')) }), {
      reason: 'CreateContainerConfigError',
      message: "couldn't parse env file: it is a pipe, not a file",
    }));
});

test("the API server's own service is the one in the namespace that an option names", async () => {
  const services = [{ metadata: { namespace: 'masters', name: 'kubernetes' }, spec: { clusterIP: '10.0.0.2', ports: [] } }];
  const hostIn = async (masterServiceNamespace: string) => {
    const { env } = await resolve({}, { services, masterServiceNamespace });
    return env.find(({ name }) => name === 'KUBERNETES_SERVICE_HOST')?.value;
  };
  assert.deepEqual([await hostIn('masters'), await hostIn('default')], ['10.0.0.2', undefined]);
});
