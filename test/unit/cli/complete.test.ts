import assert from 'node:assert/strict';
import { test } from 'node:test';
import { complete } from '../../../src/cli/complete.ts';
import { completionScripts } from '../../../src/cli/completion-scripts.ts';
import { runCompletion } from '../../../src/cli/completion.ts';
import { manPage } from '../../../src/cli/man-page.ts';
import type { NamedPod } from '../../../src/cli/pod-names.ts';
import { commands } from '../../../src/options/commands.ts';
import { allOptions } from '../../../src/options/options-table.ts';
import { aContainer, aPod } from '../../builders/a-pod.ts';

const named = (namespace: string, name: string, ...containers: string[]): NamedPod => ({
  namespace,
  name,
  pod: aPod(name, { containers: containers.map((each) => aContainer(each)) }, { namespace }),
});
const pods = [
  named('default', 'web', 'app', 'log'),
  named('default', 'db', 'main'),
  named('kube-system', 'db', 'main'),
  named('x', '$(ls)', 'c'),
];
const completed = async (line: string): Promise<readonly string[]> => {
  const { words, besides } = await complete(line.split(' '), () => Promise.resolve(pods));
  return besides === 'nothing' ? words : [...words, `:${besides}`];
};

for (const { line, becomes } of [
  { line: 'ex', becomes: ['exec', 'explain'] },
  { line: '--pod-manifest-p', becomes: ['--pod-manifest-path'] },
  { line: '--pod-manifest-path ', becomes: [':files'] },
  { line: '--root-dir=', becomes: [':directories'] },
  { line: '--read-only-port ', becomes: [] },
  { line: 'logs ', becomes: ['default/db', 'kube-system/db', 'web'] },
  { line: 'logs -n kube-system ', becomes: ['db'] },
  { line: 'logs default/', becomes: ['default/db', 'default/web'] },
  { line: 'logs web ', becomes: ['app', 'log'] },
  { line: 'logs web app ', becomes: [] },
  { line: 'logs web -c ', becomes: ['app', 'log'] },
  { line: 'exec -it web --container=a', becomes: ['--container=app'] },
  { line: 'exec web -- ls w', becomes: [] },
  { line: 'ps -n ', becomes: ['default', 'kube-system', 'x'] },
  { line: 'ps -o ', becomes: ['json', 'wide'] },
  { line: 'ps --out', becomes: ['--output'] },
  { line: 'explain no', becomes: ['node', ':files'] },
  { line: 'validate manif', becomes: [':files'] },
  { line: 'config ', becomes: ['check', 'print'] },
  { line: 'config check ', becomes: [':files'] },
  { line: 'config print --kubec', becomes: ['--kubeconfig'] },
  { line: 'completion ', becomes: ['bash', 'fish', 'zsh'] },
])
  test(`rxlet ${line}| becomes ${becomes.join(', ') || 'nothing'}`, async () => assert.deepEqual(await completed(line), becomes));

test('a name that a shell would give a meaning is not offered', async () => {
  assert.deepEqual(await completed('logs -n x '), []);
});

test('the agent is asked only where a name of its may stand', async () => {
  for (const line of ['lo', 'validate ', 'ps -o ', 'logs --fol'])
    await complete(line.split(' '), () => Promise.reject(new Error(`asked at ${line}`)));
});

test('a shell that is not known is refused with those that are', () => {
  let said = '';
  const io = { stdout: { write: () => assert.fail() }, stderr: { write: (text: string) => (said += text) } };
  assert.equal(runCompletion(['tcsh'], io), 2);
  assert.match(said, /bash, zsh, fish/);
});

test('each script asks the program that is being completed', () => {
  for (const script of Object.values(completionScripts)) {
    assert.match(script, /__complete --/);
    assert.doesNotMatch(script, /\\\$/);
  }
});

test('the man page has every command and every flag, and no line that is a request by chance', () => {
  const page = manPage('1.2.3');
  for (const name of commands) assert(page.includes(`.SS ${name.replaceAll('-', String.raw`\-`)}\n`), name);
  for (const [, { flag }] of allOptions)
    if (flag !== undefined) assert(page.includes(String.raw`\-\-${flag.replaceAll('-', String.raw`\-`)}`), flag);
  const requests = new Set(page.split('\n').flatMap((line) => /^[.'](\S*)/.exec(line)?.[1] ?? []));
  assert.deepEqual([...requests].toSorted(), ['B', 'BR', 'I', 'PP', 'SH', 'SS', 'TH', 'TP', 'br', 'fi', 'nf']);
});
