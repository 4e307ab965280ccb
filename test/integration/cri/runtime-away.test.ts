import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { criEndpoint } from '../../builders/engine-of-tests.ts';
import { CriAgent } from './cri-agent.ts';

/** The directory of the containerd under test, which has to be one of hack/containerd.sh. */
const directory = dirname(criEndpoint().slice('unix://'.length));
const containerd = (command: 'up' | 'stop'): Promise<unknown> =>
  promisify(execFile)(resolve(import.meta.dirname, '../../../hack/containerd.sh'), [command, directory]);

const pod = (name: string): object => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name },
  spec: {
    terminationGracePeriodSeconds: 1,
    containers: [{ name: 'app', image: 'busybox:1.35', command: ['sh', '-c', 'exec sleep 100000'] }],
  },
});

test(
  'a runtime that is away, and then hangs, is said each once; its pods stay as they are, and what was declared meanwhile comes up',
  {
    timeout: 300_000,
  },
  async (t) => {
    t.after(() => containerd('up'));
    const agent = await CriAgent.prepare(t);
    const away = async (name: string, begin: () => Promise<() => Promise<unknown>>, words: RegExp): Promise<void> => {
      const before = await agent.parts();
      const from = agent.lines.length;
      const end = await begin();
      await agent.declare(`${name}.json`, pod(name));
      const { err } = await agent.logged('that it is away', ({ msg }) => msg === 'relist failed', from);
      assert.match(String(err), words);
      await end();
      await agent.phase(name, 'Running');
      await agent.logged('that it is back', ({ msg }) => msg === 'relist works again', from);
      const after = await agent.parts();
      assert.deepEqual(
        before.filter((part) => !after.includes(part)),
        [],
      );
      assert.equal(after.length, before.length + 2);
      assert.equal(agent.lines.slice(from).filter(({ msg }) => msg === 'relist failed').length, 1);
    };

    await agent.declare('first.json', pod('first'));
    agent.run('--runtime-request-timeout=5s');
    await agent.phase('first', 'Running');
    await away(
      'second',
      async () => {
        await containerd('stop');
        return () => containerd('up');
      },
      /cannot reach the container runtime at unix:.*ENOENT|cannot reach the container runtime at unix:.*ECONNREFUSED|connection was closed/,
    );
    await away(
      'third',
      async () => {
        const pid = Number(await readFile(join(directory, 'containerd.pid'), 'utf8'));
        process.kill(pid, 'SIGSTOP');
        t.after(() => process.kill(pid, 'SIGCONT'));
        return async () => process.kill(pid, 'SIGCONT');
      },
      /no answer within 5 s/,
    );
  },
);
