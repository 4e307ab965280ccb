import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { copyFile, readdir, rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { getuid } from 'node:process';
import { describe, test } from 'node:test';
import { promisify } from 'node:util';
import { AgentUnderTest, launcher, NODE } from '../integration/agent/agent-under-test.ts';
import { app, pod, stays } from '../integration/agent/pod-specs.ts';
import { dockerOf } from '../integration/agent/docker-test-engine.ts';

const examples = resolve(import.meta.dirname, '../../manifests/examples');
const isRoot = getuid?.() === 0;

interface Listed {
  readonly Names: readonly string[];
}

/** As root on root's Podman, and as another user on that user's: hack/modern.sh podman runs both. */
describe(`the examples on ${isRoot ? "root's" : "an ordinary user's"} Podman`, { timeout: 300_000 }, () => {
  test('run, serve, write logs, take commands, are probed, and leave nothing when they are removed', async (t) => {
    const agent = await AgentUnderTest.prepare(t);
    const containers = async (): Promise<readonly Listed[]> =>
      (await dockerOf(agent.engine).call('GET', '/containers/json?all=1')) as readonly Listed[];
    assert.deepEqual(await containers(), [], 'this Podman is for this test alone');
    const rxlet = async (command: string, ...args: readonly string[]): Promise<string> =>
      (await promisify(execFile)(launcher, [command, `--root-dir=${agent.rootDir}`, ...args])).stdout;
    const files = await readdir(examples);
    for (const name of files) await copyFile(join(examples, name), join(agent.manifests, name));
    const readinessProbe = { exec: { command: ['sh', '-c', 'echo probed >/proc/1/fd/1'] }, periodSeconds: 1, timeoutSeconds: 30 };
    await agent.declare('probed', pod([app(stays, { readinessProbe })]));
    agent.run(`--cert-dir=${join(agent.rootDir, 'pki')}`);

    await agent.until('the engine has begun', async () => (await containers()).length > 0);
    const reaches = (name: string, phase: string) =>
      agent.logged(
        `${name} is ${phase}`,
        ({ msg, pod: of, to }) => msg === 'pod phase changed' && of === `default/${name}-${NODE}` && to === phase,
      );
    await Promise.all([reaches('web', 'Running'), reaches('steps', 'Succeeded')]);
    await agent.until('crashing starts again', async () =>
      (await containers()).some(({ Names }) => Names.some((name) => /_crashing-.*_[1-9]\d*$/.test(name))),
    );
    await agent.logged(
      'probed is ready',
      ({ msg, probe, to }) => msg === 'probe result changed' && probe === 'readiness' && to === 'success',
    );

    assert.match(await (await fetch('http://127.0.0.1:8081/')).text(), new RegExp(`^hello from web-${NODE}, it is `));
    assert.match(await rxlet('ps'), new RegExp(`^default +web-${NODE} +2/2 +Running`, 'm'));
    assert.equal(await rxlet('logs', `steps-${NODE}`, '-c', 'job'), 'work done\n');
    assert.match(await rxlet('logs', agent.pod('probed')), /^probed$/m);
    assert.equal(await rxlet('exec', `web-${NODE}`, '-c', 'httpd', '--', 'ls', '/content'), 'index.html\n');
    const limits = agent.lines.filter(({ msg }) => msg === 'the engine runs without root');
    assert.equal(limits.length > 0, !isRoot);
    assert.ok(limits.every(({ cannot, toDo }) => cannot && toDo));

    for (const file of await readdir(agent.manifests)) await rm(join(agent.manifests, file));
    await agent.until('the engine has nothing of them', async () => (await containers()).length === 0);
    await agent.until('their directories are gone', async () => (await readdir(join(agent.rootDir, 'pods'))).length === 0);
    assert.equal(await agent.kill(), 0);
  });
});
