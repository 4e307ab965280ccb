import assert from 'node:assert/strict';
import { test } from 'node:test';
import { UsageError } from '../../../src/cli/command-io.ts';
import { commandResult } from '../../../src/cli/command-result.ts';
import { execFlags } from '../../../src/cli/exec.ts';
import { humanDuration } from '../../../src/cli/human-duration.ts';
import { logsFlags } from '../../../src/cli/logs.ts';
import { parseArguments } from '../../../src/cli/parse-arguments.ts';
import { chooseContainer, choosePod, type NamedPod } from '../../../src/cli/pod-names.ts';
import { table } from '../../../src/cli/table.ts';
import { aContainer, aPod } from '../../builders/a-pod.ts';

test('flags are read as kubectl reads them', () => {
  const cases: readonly (readonly [readonly string[], object])[] = [
    [['-it', 'web', '--', 'sh', '-c', 'ls'], { flags: { stdin: 'true', tty: 'true' }, words: ['web'], rest: ['sh', '-c', 'ls'] }],
    [['web', '-i', '--tty=false', '-t'], { flags: { stdin: 'true', tty: 'true' }, words: ['web'], rest: undefined }],
    [['-t', '--tty=false', 'web', '--'], { flags: {}, words: ['web'], rest: [] }],
    [['-nkube-system', '-c', 'app', 'web'], { flags: { namespace: 'kube-system', container: 'app' }, words: ['web'], rest: undefined }],
    [['-n=a', '--container=b=c', '-'], { flags: { namespace: 'a', container: 'b=c' }, words: ['-'], rest: undefined }],
    [['-itn', 'a'], { flags: { stdin: 'true', tty: 'true', namespace: 'a' }, words: [], rest: undefined }],
    [['--', '--', '-i'], { flags: {}, words: [], rest: ['--', '-i'] }],
  ];
  for (const [argv, parsed] of cases) assert.deepEqual(parseArguments(argv, execFlags), parsed, argv.join(' '));
});

test('what is typed wrongly is named', () => {
  for (const [argv, message] of [
    [['--nope'], 'unknown flag --nope; the nearest flag is --namespace'],
    [['--folow=true'], 'unknown flag --folow; did you mean --follow?'],
    [['-x'], 'unknown flag -x'],
    [['--constructor'], 'unknown flag --constructor; the nearest flag is --container'],
    [['-fx'], 'unknown flag -x'],
    [['--tail'], '--tail needs a value'],
    [['-c'], '-c needs a value'],
    [['--follow=maybe'], '--follow is true or false, not maybe'],
  ] as const) {
    assert.throws(
      () => parseArguments(argv, logsFlags),
      (error) => error instanceof UsageError && error.message === message,
      message,
    );
  }
});

test('how long ago something was, in the words of kubectl', () => {
  const [s, m, h, d] = [1000, 60_000, 3_600_000, 86_400_000];
  for (const [ms, text] of [
    [-5 * s, '<invalid>'],
    [-500, '0s'],
    [0, '0s'],
    [119 * s, '119s'],
    [2 * m, '2m'],
    [2 * m + 5 * s, '2m5s'],
    [10 * m + 30 * s, '10m'],
    [179 * m, '179m'],
    [3 * h, '3h'],
    [7 * h + 59 * m, '7h59m'],
    [8 * h + 30 * m, '8h'],
    [47 * h, '47h'],
    [48 * h, '2d'],
    [50 * h, '2d2h'],
    [8 * d + h, '8d'],
    [729 * d, '729d'],
    [730 * d, '2y'],
    [731 * d, '2y1d'],
    [8 * 365 * d + 5 * d, '8y'],
  ] as const) {
    assert.equal(humanDuration(ms), text, `${ms}`);
  }
});

test('a table is aligned, and its cells cannot steer the terminal', () => {
  const rows = [
    ['a', 'longer than its head', 'x'],
    ['evil\u001b[2J\n', 'b', ''],
  ];
  assert.equal(
    table(['ONE', 'TWO', 'THREE'], rows),
    'ONE         TWO                    THREE\na           longer than its head   x\nevil?[2J?   b                      \n',
  );
});

const named = (pod: ReturnType<typeof aPod>): NamedPod => ({ name: pod.metadata.name, namespace: pod.metadata.namespace, pod });
const staticPod = (name: string, namespace = 'default'): NamedPod =>
  named(aPod(`${name}-node1`, { nodeName: 'node1' }, { namespace, annotations: { 'kubernetes.io/config.source': 'file' } }));

test('a pod is meant by its name, with its namespace or without, and a static pod without its node', () => {
  const pods = [
    staticPod('web'),
    staticPod('dns', 'kube-system'),
    staticPod('twin'),
    staticPod('twin', 'other'),
    named(aPod('db')),
    named(aPod('web')),
  ];
  for (const [asked, namespace, found] of [
    ['db', undefined, 'default/db'],
    ['pod/db', undefined, 'default/db'],
    ['web', undefined, 'default/web'],
    ['web-node1', undefined, 'default/web-node1'],
    ['dns', undefined, 'kube-system/dns-node1'],
    ['kube-system/dns', undefined, 'kube-system/dns-node1'],
    ['twin', 'other', 'other/twin-node1'],
    ['other/twin', 'default', 'other/twin-node1'],
  ] as const) {
    const { namespace: inNamespace, name } = choosePod(pods, asked, namespace);
    assert.equal(`${inNamespace}/${name}`, found, asked);
  }
  assert.throws(() => choosePod(pods, 'nobody', undefined), { message: `pod "nobody" is not on this node; see 'rxlet ps'` });
  assert.throws(() => choosePod(pods, 'dns', 'default'), { message: `pod "dns" is not on this node in namespace default; see 'rxlet ps'` });
  assert.throws(() => choosePod(pods, 'twin', undefined), { message: '"twin" could be default/twin-node1 or other/twin-node1' });
});

test('of several containers the default one is meant, and a choice is told', () => {
  const two = { containers: [aContainer('app'), aContainer('log')], initContainers: [aContainer('setup')] };
  const note = 'Defaulted container "app" out of: app, log, setup (init)\n';
  assert.deepEqual(chooseContainer(named(aPod('one')), undefined), { container: 'app' });
  assert.deepEqual(chooseContainer(named(aPod('two', two)), undefined), { container: 'app', note });
  assert.deepEqual(chooseContainer(named(aPod('two', two)), 'setup'), { container: 'setup' });
  const annotations = { 'kubectl.kubernetes.io/default-container': 'log' };
  assert.deepEqual(chooseContainer(named(aPod('two', two, { annotations })), undefined), { container: 'log' });
  assert.throws(() => chooseContainer(named(aPod('two', two)), 'nope'), {
    message: 'container nope is not in pod two; it has app, log, setup (init)',
  });
});

test('how a command ended', () => {
  const exit = (code: string): string =>
    JSON.stringify({
      status: 'Failure',
      reason: 'NonZeroExitCode',
      message: 'command terminated',
      details: { causes: [{ reason: 'ExitCode', message: code }] },
    });
  assert.deepEqual(commandResult('{"metadata":{},"status":"Success"}'), { exitCode: 0 });
  assert.deepEqual(commandResult(exit('42')), { exitCode: 42 });
  assert.deepEqual(commandResult(exit('x')), { exitCode: 1, message: 'command terminated' });
  assert.deepEqual(commandResult('{"status":"Failure","message":"no such file"}'), { exitCode: 1, message: 'no such file' });
  assert.deepEqual(commandResult(undefined), { exitCode: 1, message: 'the connection ended before the command did' });
  assert.deepEqual(commandResult('nonsense'), { exitCode: 1, message: "the agent's last word makes no sense: nonsense" });
});
