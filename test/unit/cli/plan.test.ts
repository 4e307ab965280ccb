import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, test } from 'node:test';
import { runPlan } from '../../../src/cli/plan.ts';
import { planTools } from '../../../src/plan-tools.ts';
import { aManifest } from '../../builders/a-manifest.ts';
import { FakeClock } from '../../fakes/fake-clock.ts';

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'plan-'));
  mkdirSync(join(directory, 'old'));
  mkdirSync(join(directory, 'new'));
});
afterEach(() => rmSync(directory, { recursive: true }));

const write = (name: string, text: string): string => {
  writeFileSync(join(directory, name), text);
  return join(directory, name);
};
/** A manifest whose pod keeps its uid when it is edited. */
const fixed = (name: string, image = 'busybox:1.35', more = ''): string =>
  aManifest(name, image).replace('\nspec:', `\n  uid: ${name}-1\nspec:`) + more;
const configMap = (value: string): string => `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: conf}\ndata: {mode: ${value}}\n`;
const secret = (value: string): string => `apiVersion: v1\nkind: Secret\nmetadata: {name: login}\nstringData: {password: ${value}}\n`;

async function plan(...argv: readonly string[]): Promise<{ readonly code: number; readonly out: string; readonly err: string }> {
  let [out, err] = ['', ''];
  const io = { stdout: { write: (text: string) => (out += text) }, stderr: { write: (text: string) => (err += text) } };
  const tools = planTools({ nodeName: 'n1', clock: new FakeClock() });
  const code = await runPlan(argv, io, tools, directory);
  return { code, out: out.replaceAll(directory, ''), err: err.replaceAll(directory, '') };
}
const planned = (...paths: readonly string[]): ReturnType<typeof plan> =>
  plan(...(paths.length > 0 ? paths : [join(directory, 'new')]), `--against=${join(directory, 'old')}`);

for (const [what, before, after, code, out] of [
  ['what already runs', aManifest('web'), aManifest('web'), 0, '1 pod stays as it is\n'],
  ['a new manifest', undefined, aManifest('web'), 1, 'default/web: start\n  no manifest declared it before\n'],
  ['a manifest that is gone', aManifest('web'), undefined, 1, 'default/web: stop\n  no manifest declares it any more\n'],
  [
    'an edited static pod is another pod',
    aManifest('web'),
    aManifest('web', 'busybox:1.36'),
    1,
    'default/web: recreate\n  its manifest makes it another pod: the one that runs is stopped before the new one starts\n' +
      '    spec.containers[app].image: "busybox:1.35" -> "busybox:1.36"\n',
  ],
  [
    'another image of a pod that keeps its uid',
    fixed('web'),
    fixed('web', 'busybox:1.36'),
    1,
    'default/web: restart (app)\n  container app is of another image: busybox:1.35 → busybox:1.36\n' +
      '    spec.containers[app].image: "busybox:1.35" -> "busybox:1.36"\n',
  ],
  [
    'other resources of a pod that keeps its uid',
    fixed('web', undefined, '    resources: {limits: {memory: 64Mi}}\n'),
    fixed('web', undefined, '    resources: {limits: {memory: 128Mi}}\n'),
    1,
    'default/web: in place (app)\n  container app gets other memory as it runs\n' +
      '    spec.containers[app].resources.limits.memory: "64Mi" -> "128Mi"\n' +
      '    spec.containers[app].resources.requests.memory: "64Mi" -> "128Mi"\n',
  ],
  [
    'the network of the node in place of its own',
    fixed('web'),
    fixed('web', undefined, '  hostNetwork: true\n'),
    1,
    /^default\/web: recreate\n {2}the sandbox has the pod's network, not the node's/,
  ],
  [
    'what a container is only made with',
    fixed('web', undefined, '    args: [a]\n'),
    fixed('web', undefined, '    args: [b]\n'),
    1,
    'default/web: nothing\n  container app goes on: args count from its next start\n    spec.containers[app].args[0]: changed\n',
  ],
  [
    'a container more',
    fixed('web'),
    fixed('web', undefined, '  - name: more\n    image: busybox:1.35\n'),
    1,
    /^default\/web: start \(more\)\n/,
  ],
  [
    'a container less',
    fixed('web', undefined, '  - name: more\n    image: busybox:1.35\n'),
    fixed('web'),
    1,
    /^default\/web: stop \(more\)\n {2}container more is not in the pod's spec\n/,
  ],
  [
    'a manifest with faults takes no pod away',
    aManifest('web'),
    `${aManifest('web')}  restartPolicy: Sometimes\n`,
    2,
    '/new/web.yaml:9:18 spec.restartPolicy: Unsupported value: "Sometimes": supported values: "Always", "OnFailure", "Never"\n' +
      'default/web: refused\n  its manifest has a fault: what runs stays as it is\n',
  ],
  ['no YAML at all, where a pod was', aManifest('web'), '{', 2, /default\/web: refused\n/],
  ['a new manifest with faults', undefined, aManifest('Web'), 2, /default\/Web: refused\n {2}its manifest has .*: nothing starts\n/],
] as const) {
  test(`plan: ${what}`, async () => {
    if (before !== undefined) write('old/web.yaml', before);
    if (after !== undefined) write('new/web.yaml', after);
    const result = await planned();
    assert.equal(result.code, code, result.out + result.err);
    if (typeof out === 'string') assert.equal(result.out, out);
    else assert.match(result.out, out);
  });
}

test('a directory takes the place of everything, a file only of what it names', async () => {
  write('old/web.yaml', aManifest('web'));
  write('old/db.yaml', aManifest('db'));
  const file = write('new/web.yaml', aManifest('web'));
  assert.match((await planned()).out, /default\/db: stop/);
  assert.deepEqual(await planned(file), { code: 0, out: '2 pods stay as they are\n', err: '' });
});

test('a file of another name takes the place of the pod of its name', async () => {
  write('old/web.yaml', aManifest('web'));
  const { out } = await planned(write('new/other.yaml', aManifest('web', 'busybox:1.36')));
  assert.match(out, /^default\/web: recreate/);
});

test('of a ConfigMap and a Secret it says who sees the change, and shows no value', async () => {
  const user = `${aManifest('web')}    volumeMounts: [{name: c, mountPath: /c}]\n    env: [{name: P, valueFrom: {secretKeyRef: {name: login, key: password}}}]\n  volumes: [{name: c, configMap: {name: conf}}]\n`;
  for (const [where, value] of [
    ['old', 'first-value'],
    ['new', 'second-value'],
  ] as const) {
    write(`${where}/web.yaml`, user);
    write(`${where}/conf.yaml`, configMap(value));
    write(`${where}/login.yaml`, secret(value));
  }
  for (const flags of [[], ['--output=json']]) {
    const { code, out } = await planned(join(directory, 'new'), ...flags);
    assert.equal(code, 1);
    for (const value of ['first-value', 'second-value']) {
      assert.doesNotMatch(out, new RegExp(value));
      assert.ok(!out.includes(Buffer.from(value).toString('base64')));
    }
    if (flags.length > 0) {
      const { objects } = JSON.parse(out) as { objects: unknown };
      assert.deepEqual(objects, [
        {
          object: 'ConfigMap default/conf',
          consequence: 'changed',
          keys: ['mode'],
          live: ['default/web'],
          atNextStart: [],
          file: '/new/conf.yaml',
        },
        {
          object: 'Secret default/login',
          consequence: 'changed',
          keys: ['password'],
          live: [],
          atNextStart: ['default/web'],
          file: '/new/login.yaml',
        },
      ]);
    }
  }
});

test('values of an environment are not shown, also of a container that comes or goes', async () => {
  write(
    'old/web.yaml',
    fixed('web', undefined, '    env: [{name: P, value: hunter2}]\n  - name: gone\n    image: a\n    env: [{name: P, value: hunter3}]\n'),
  );
  write('new/web.yaml', fixed('web', undefined, '    env: [{name: P, value: hunter4}]\n'));
  const { out } = await planned();
  assert.match(out, /spec\.containers\[app\]\.env\[P\]\.value: changed/);
  assert.doesNotMatch(out, /hunter/);
});

test('what may be a password is shown nowhere, in whichever field it is', async () => {
  const manifest = (password: string): string =>
    fixed(
      'web',
      undefined,
      `    command: [sh, -c, "psql -h db -W ${password}"]
    args: ["--password=${password}", "${password}"]
    env: [{name: P, value: ${password}}]
    livenessProbe: {exec: {command: [check, ${password}]}}
    readinessProbe: {httpGet: {port: 80, path: "/?token=${password}", httpHeaders: [{name: Authorization, value: Bearer ${password}}]}}
    lifecycle: {preStop: {exec: {command: [bye, ${password}]}}}
  - name: from-${password.length}
    image: https://robot:${password}@registry.example/app:1
    args: [${password}]
`,
    ).replace(
      '\n  uid:',
      `\n  annotations: {db: "postgres://u:${password}@db/x", config: '{"password": "${password}"}', example.com/api-key: ${password}, header: "Authorization: Basic ${password}"}\n  uid:`,
    );
  write('old/web.yaml', manifest('hunter2hunter'));
  write('new/web.yaml', manifest('tiger3tiger'));
  for (const flags of [[], ['--output=json']]) {
    const { code, out, err } = await planned(join(directory, 'new'), ...flags);
    assert.ok(code > 0);
    assert.doesNotMatch(out + err, /hunter2|tiger3/);
    assert.match(out, /spec\.containers\[app\]\.args/);
  }
});

test('nothing in a manifest steers the terminal', async () => {
  write('old/web.yaml', aManifest('web'));
  write('new/web.yaml', aManifest('web').replace('\nspec:', '\n  annotations: {note: "\\e]0;owned\\a\\u202e"}\nspec:'));
  write('new/\u001b[2J.yaml', aManifest('bad'));
  const { out, err } = await planned();
  assert.match(out, /annotations\[?\.?note/);
  // eslint-disable-next-line no-control-regex -- what a terminal obeys
  assert.doesNotMatch(out + err, /[\u0000-\u0009\u000b-\u001f\u007f\u202e]/);
});

test('a FIFO in the place of a manifest is refused at once, and takes no pod away', async () => {
  write('old/web.yaml', aManifest('web'));
  execFileSync('mkfifo', [join(directory, 'new/web.yaml')]);
  const { code, out, err } = await planned(join(directory, 'new/web.yaml'));
  assert.deepEqual(
    { code, out, err },
    { code: 2, out: '1 pod stays as it is\n', err: '/new/web.yaml: cannot be read: not a regular file, no manifest\n' },
  );
});

test('a manifest longer than the agent reads, and a directory that is missing: exit code 2', async () => {
  write('new/web.yaml', `${aManifest('web')}#${' '.repeat(10 * 1024 * 1024)}`);
  const long = await planned();
  assert.equal(long.code, 2);
  assert.match(long.err, /\/new\/web\.yaml: cannot be read: longer than 10485760 bytes/);
  const missing = await planned(join(directory, 'none'));
  assert.equal(missing.code, 2);
  assert.match(missing.err, /\/none: cannot be read: ENOENT/);
});

test('two thousand pods are planned, and all that has not changed is one line', async () => {
  for (let i = 0; i < 2000; i++) {
    write(`old/p${i}.yaml`, aManifest(`p${i}`));
    write(`new/p${i}.yaml`, aManifest(`p${i}`, i === 7 ? 'busybox:1.36' : undefined));
  }
  const { code, out } = await planned();
  assert.equal(code, 1);
  assert.match(out, /^default\/p7: recreate\n[^]*\n1999 pods stay as they are\n$/);
});

test('a command line that is wrong, and help', async () => {
  for (const [argv, why] of [
    [[], 'which manifest?'],
    [['x', '--against='], 'against which manifests?'],
    [['x', '--against=y', '-o', 'xml'], '--output is text or json'],
  ] as const) {
    const { code, err } = await plan(...argv);
    assert.equal(code, 2);
    assert.ok(err.startsWith(`error: ${why}`), err);
  }
  const { code, out } = await plan('--help');
  assert.equal(code, 0);
  assert.match(out, /^Usage: rxlet plan/);
});
