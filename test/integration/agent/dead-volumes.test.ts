import assert from 'node:assert/strict';
import { once } from 'node:events';
import { rename, rm, symlink } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import { get } from 'node:https';
import { join } from 'node:path';
import { describe, test, type TestContext } from 'node:test';
import type { V1PodSpec, V1Volume, V1VolumeMount } from '@kubernetes/client-node';
import { DeadMounts } from '../../builders/dead-mounts.ts';
import { AgentUnderTest } from './agent-under-test.ts';
import { freePort } from './free-port.ts';

const MOUNTS = 40;
/** What the agent takes to stop when all is well is far less; a thread that hangs would hold it for ever. */
const STOP_MS = 5_000;

const podWith = (volume: Omit<V1Volume, 'name'>, over: Partial<V1VolumeMount> = {}, spec: Partial<V1PodSpec> = {}): V1PodSpec => ({
  terminationGracePeriodSeconds: 1,
  containers: [
    {
      name: 'app',
      image: 'busybox:1.35',
      command: ['sleep', '1000000'],
      volumeMounts: [{ name: 'v', mountPath: '/v', ...over }],
    },
  ],
  volumes: [{ name: 'v', ...volume }],
  ...spec,
});

describe('volumes on file systems that do not answer', { timeout: 240_000 }, () => {
  for (const hang of ['killable', 'unkillable'] as const) {
    test(`${MOUNTS} of them (${hang}) delay no other pod, healthz tells which, their pods go on when they answer, and SIGTERM ends the agent in its usual time`, async (t) => {
      const { agent, dead, health, healthz } = await stage(t, hang);
      for (const [i, path] of dead.paths.entries()) {
        await agent.declare(`dead${i}`, podWith({ hostPath: { path: join(path, 'data'), ...(i % 2 === 0 && { type: 'Directory' }) } }));
      }
      agent.run('--docker-endpoint=fake://', `--healthz-port=${healthz}`);
      await agent.until('all are held for their volumes', () => held(agent).size === MOUNTS);
      const fromMs = performance.now();
      await agent.declare('empty', podWith({ emptyDir: {} }));
      await agent.phase('empty', 'Running');
      await agent.declare('host', podWith({ hostPath: { path: agent.dir, type: 'Directory' } }));
      await agent.phase('host', 'Running');
      await agent.remove('empty');
      await agent.gone('empty');
      t.diagnostic(`two pods started, and one ended, in ${Math.round(performance.now() - fromMs)} ms`);
      const { status, body } = await health('/healthz?verbose');
      assert.equal(status, 200);
      for (const path of dead.paths) assert.match(body, new RegExp(`${path}(/data)? since \\d{4}-\\d\\d-\\d\\dT`));
      const [answering, silent] = [dead.paths.slice(0, MOUNTS / 2), dead.paths.slice(MOUNTS / 2)];
      for (const path of answering) dead.answer(path);
      await Promise.all(answering.map((_, i) => agent.phase(`dead${i}`, 'Running')));
      const after = await health('/healthz/file-systems');
      assert.equal(after.status, 200);
      assert.match(after.body, new RegExp(`^ok: ${silent.length} do not answer: `));
      for (const path of silent) assert.match(after.body, new RegExp(`${path}/data since|${path} since`));
      const stopMs = performance.now();
      assert.equal(await agent.kill(), 0);
      const tookMs = performance.now() - stopMs;
      t.diagnostic(`SIGTERM ended the agent in ${Math.round(tookMs)} ms`);
      assert.ok(tookMs < STOP_MS, `the agent took ${tookMs} ms to stop`);
    });
  }

  test('manifests on a file system that falls silent keep their pods, and hold up neither healthz nor SIGTERM', async (t) => {
    const { agent, dead, health, healthz } = await stage(t, 'unkillable');
    const [mount = ''] = dead.paths;
    await agent.declare('kept', podWith({ emptyDir: {} }));
    const link = join(agent.dir, 'link');
    await symlink(agent.manifests, link);
    agent.run('--docker-endpoint=fake://', `--healthz-port=${healthz}`, `--pod-manifest-path=${link}`);
    await agent.phase('kept', 'Running');
    await symlink(mount, `${link}.new`);
    await rename(`${link}.new`, link);
    await agent.logged(
      'they cannot be read',
      ({ msg, err }) => msg.startsWith('manifests cannot be read') && /does not answer/.test(String(err)),
    );
    const { status, body } = await health('/healthz?verbose');
    assert.equal(status, 200);
    assert.match(body, new RegExp(`file-systems ok: 1 does not answer: ${mount} since`));
    assert.equal(
      agent.lines.some(({ msg, to }) => msg === 'pod phase changed' && to !== 'Running' && to !== 'Pending'),
      false,
    );
    const stopMs = performance.now();
    assert.equal(await agent.kill(), 0);
    assert.ok(performance.now() - stopMs < STOP_MS);
  });

  test('requests for node logs through a link to a file system that does not answer hold no thread', async (t) => {
    const { agent, dead, healthz } = await stage(t, 'unkillable');
    const link = `/var/log/${agent.prefix}link`;
    await symlink(dead.paths[0] ?? '', link);
    t.after(() => rm(link));
    agent.run('--docker-endpoint=fake://', `--healthz-port=${healthz}`, '--anonymous-auth=true', '--authorization-mode=AlwaysAllow');
    await agent.logged('it serves', ({ msg, listener }) => msg === 'serving' && listener === 'https');
    const asked = Array.from({ length: 40 }, async () => {
      const request = get({ host: '127.0.0.1', port: agent.port, path: `/logs/${agent.prefix}link/`, rejectUnauthorized: false });
      const [response] = (await once(request, 'response')) as [IncomingMessage];
      response.resume();
      return response.statusCode;
    });
    await agent.declare('empty', podWith({ emptyDir: {} }));
    await agent.phase('empty', 'Running');
    assert.deepEqual(new Set(await Promise.all(asked)), new Set([404]));
    assert.equal(await agent.kill(), 0);
  });

  async function stage(t: TestContext, hang: 'killable' | 'unkillable') {
    const disposals: (() => Promise<void>)[] = [];
    t.after(async () => {
      // The mounts first: what hangs in them is in use.
      for (const dispose of disposals.toReversed()) await dispose();
    });
    const agent = await AgentUnderTest.prepare({ after: (dispose) => void disposals.push(dispose) });
    const healthz = await freePort(agent.port);
    const paths = Array.from({ length: MOUNTS }, (_, i) => join(agent.dir, 'mnt', `dead${i}`));
    const dead = await DeadMounts.at(paths, hang);
    disposals.push(() => dead.close());
    const health = async (path: string): Promise<{ status: number; body: string }> => {
      const response = await fetch(`http://127.0.0.1:${healthz}${path}`);
      return { status: response.status, body: await response.text() };
    };
    return { agent, dead, health, healthz };
  }
});

/** The pods that were held because the file system of a volume does not answer. */
function held({ lines }: AgentUnderTest): ReadonlySet<string> {
  const told = lines.filter(({ reason, message }) => reason === 'FailedMount' && String(message).includes('does not answer'));
  return new Set(told.map(({ pod }) => String(pod).split('/')[1] ?? ''));
}
