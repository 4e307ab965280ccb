import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { anAgent } from './an-agent.ts';
import { freshDirectory } from './fresh-directory.ts';

test('an agent that hangs in a file while it starts ends when it is told to', { timeout: 60_000 }, async (t) => {
  const dir = await freshDirectory(t);
  const kubeconfig = join(dir, 'kubeconfig');
  execFileSync('mkfifo', [kubeconfig]);
  const agent = await anAgent(t, { dir, flags: [`--kubeconfig=${kubeconfig}`] });
  // Opened once the agent reads it. As on a server that is gone, there is no answer.
  const silent = await open(kubeconfig, 'w');
  t.after(() => silent.close());
  agent.child.kill('SIGTERM');
  await agent.says('stopped before the agent had begun');
  // Node's own exit would wait for the thread.
  assert.equal(await agent.exited, 0);
  assert.match(agent.lines.at(-1) ?? '', /files or name servers do not answer.*FSReq/);
});
