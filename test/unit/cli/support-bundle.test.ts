import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { afterEach, beforeEach, test } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { type AnsweringAgent, bundleText, runSupportBundle } from '../../../src/cli/support-bundle.ts';
import { CommandError } from '../../../src/cli/command-io.ts';

let directory: string;
beforeEach(() => (directory = mkdtempSync(join(tmpdir(), 'rxlet-bundle-'))));
afterEach(() => rmSync(directory, { recursive: true }));

const NOW = Date.parse('2026-01-02T03:04:05Z');
const agentThat = (answers: Readonly<Record<string, unknown>>): AnsweringAgent => ({
  json: (path) => {
    const answer = answers[path.replace(/\?.*/, '')];
    return answer === undefined ? Promise.reject(new CommandError(`no agent: ${path}`)) : Promise.resolve(answer);
  },
  stream: (path) => {
    const answer = answers[path.replace(/\?.*/, '')];
    if (answer === undefined) return Promise.reject(new CommandError(`no agent: ${path}`));
    const body = new PassThrough();
    body.end(answer);
    return Promise.resolve(body);
  },
});

test('a bundle has what the agent says, without credentials and without what steers a terminal', async () => {
  const text = await bundleText(
    agentThat({
      '/configz': { kubeletconfig: { staticPodURLHeader: { Authorization: 'Bearer abc123def456' }, maxPods: 110 } },
      '/flagz': 'manifest-url=https://me:hunter22@example.com/pods\n',
      '/healthz': 'ok\u001b[2J\n',
      '/rxlet/v1/explain-node': { kind: 'node' },
      '/rxlet/v1/explain': { items: [{ pod: 'default/web', uid: 'u' }, { pod: 'refused' }] },
      '/rxlet/v1/explain/default/web': { items: [{ cause: 'login with password=hunter22 failed' }] },
      '/rxlet/v1/timeline': '{"message":"pulled","token":"hunter22"}\n',
    }),
    '2026-01-02T03:04:05Z',
  );
  assert.deepEqual(
    [...text.matchAll(/^== (.*)$/gm)].map(([, name]) => name),
    ['versions', 'configuration in effect', 'flags in effect', 'health', 'node', 'pods', 'pod default/web', 'what happened'],
  );
  assert.match(text, /"maxPods": 110/);
  assert.match(text, /"message":"pulled"/);
  for (const hidden of ['hunter22', 'abc123', '\u001b']) assert(!text.includes(hidden), hidden);
});

test('without an agent there are the versions, and why there is no more', async () => {
  const text = await bundleText(agentThat({}), '2026-01-02T03:04:05Z');
  assert.match(text, /^rxlet /m);
  assert.match(text, /^== configuration in effect\nno agent: \/configz$/m);
});

test('a bundle is bounded: each part, the pods, and all together', async () => {
  const long = 'x'.repeat(3 * 2 ** 20);
  const items = Array.from({ length: 500 }, (_, n) => ({ pod: `default/p${n}`, uid: 'u' }));
  const each = Object.fromEntries(items.map(({ pod }) => [`/rxlet/v1/explain/${pod}`, long]));
  const text = await bundleText(agentThat({ '/rxlet/v1/explain': { items }, '/rxlet/v1/timeline': long, ...each }), '');
  assert(text.length < 2 ** 23 + 2 ** 20 + 10_000, String(text.length));
  assert(text.split('\n== pod ').length - 1 <= 100);
  assert.match(text, /^… \d+ characters more$/m);
});

test('the file is for its owner alone, and never takes the place of another', async () => {
  const path = join(directory, 'bundle.txt.gz');
  let said = '';
  const stdout = new PassThrough().on('data', (piece: Buffer) => (said += piece.toString()));
  const io = { stdin: new PassThrough(), stdout, stderr: { write: () => true }, nowMs: () => NOW, plain: true };
  assert.equal(await runSupportBundle(['-o', path], agentThat({ '/healthz': 'ok' }), io), 0);
  assert.equal(said, `${path}\n`);
  assert.equal(statSync(path).mode & 0o777, 0o600);
  assert.match(gunzipSync(readFileSync(path)).toString(), /^at 2026-01-02T03:04:05.000Z$/m);
  await assert.rejects(runSupportBundle(['-o', path], agentThat({}), io), /is there already, and stays as it is/);
});
