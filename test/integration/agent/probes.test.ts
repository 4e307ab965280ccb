import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import type { V1Container, V1Probe } from '@kubernetes/client-node';
import { AgentUnderTest, type LogLine } from './agent-under-test.ts';
import { app, pod, stays } from './pod-specs.ts';

/** Of a quick and patient probe. */
const probe = (over: Partial<V1Probe>): V1Probe => ({ periodSeconds: 1, failureThreshold: 100, ...over });
const sh = (script: string): Pick<V1Probe, 'exec'> => ({ exec: { command: ['sh', '-c', script] } });
const volumeMounts: V1Container['volumeMounts'] = [{ name: 'v', mountPath: '/v' }];
const volumes = [{ name: 'v', emptyDir: {} }];

const event =
  (reason: string, text = '') =>
  ({ msg, reason: told, message }: LogLine): boolean =>
    msg === 'event' && told === reason && String(message).includes(text);
const change =
  (kind: string, to: string) =>
  ({ msg, probe: of, to: now }: LogLine): boolean =>
    msg === 'probe result changed' && of === kind && now === to;

/** A file in the emptyDir of the pod, as the node sees it. */
async function file(agent: AgentUnderTest, name: string, path: string): Promise<string> {
  const uid = (await agent.containers(name))[0]?.uid ?? '';
  return join(agent.rootDir, 'pods', uid, 'volumes/kubernetes.io~empty-dir/v', path);
}
const textOf = async (path: string): Promise<string> => readFile(path, 'utf8').catch(() => '');

describe('probes', { timeout: 300_000 }, () => {
  test('liveness and readiness wait for the startup probe, which takes its time', async (t) => {
    const agent = await AgentUnderTest.start(t);
    const container = app(`sleep 3; touch /v/up; ${stays}`, {
      volumeMounts,
      startupProbe: probe(sh('echo startup >> /v/order; [ -e /v/up ]')),
      livenessProbe: probe({ ...sh('echo other >> /v/order; [ -e /v/up ]'), failureThreshold: 1 }),
      readinessProbe: probe(sh('echo other >> /v/order; [ -e /v/up ]')),
    });
    await agent.declare('gated', pod([container], { volumes }));
    await agent.up('gated');
    await agent.logged('not started yet', event('Unhealthy', 'Startup probe failed: '));
    const started = await agent.logged('startup found', change('startup', 'success'));
    const ready = await agent.logged('readiness found', change('readiness', 'success'));
    assert.ok(agent.lines.indexOf(started) < agent.lines.indexOf(ready));
    const order = (await textOf(await file(agent, 'gated', 'order'))).trim().split('\n');
    const firstOther = order.indexOf('other');
    assert.ok(firstOther >= 1, order.join());
    assert.ok(!order.slice(firstOther).includes('startup'), order.join());
    assert.equal((await agent.up('gated'))['app']?.attempt, 0);
  });

  test('a container that fails its liveness probe is started again, with the grace period of the probe', async (t) => {
    const agent = await AgentUnderTest.start(t);
    const container = app('trap "" TERM; while :; do sleep 1; done', {
      livenessProbe: probe({ ...sh('[ ! -e /dead ]; exit 3'), failureThreshold: 2, terminationGracePeriodSeconds: 2 }),
    });
    await agent.declare('dies', pod([container], { terminationGracePeriodSeconds: 120 }));
    await agent.logged('told', event('Killing', 'Container app failed liveness probe, will be restarted'));
    await agent.until('a second instance', async () =>
      (await agent.containers('dies')).some(({ attempt, container: of }) => of === 'app' && attempt === 1),
    );
    const failures = agent.lines.filter(event('Unhealthy', 'Liveness probe failed: '));
    assert.ok(failures.length >= 2);
  });

  test('a container whose startup probe fails is started again', async (t) => {
    const agent = await AgentUnderTest.start(t);
    await agent.declare('never-up', pod([app(stays, { startupProbe: probe({ ...sh('exit 1'), failureThreshold: 2 }) })]));
    await agent.logged('told', event('Killing', 'Container app failed startup probe, will be restarted'));
    await agent.until('a second instance', async () =>
      (await agent.containers('never-up')).some(({ attempt, container }) => container === 'app' && attempt === 1),
    );
  });

  test('readiness comes and goes, and restarts nothing', async (t) => {
    const agent = await AgentUnderTest.start(t);
    const script = `sleep 2; touch /v/ready; sleep 4; rm /v/ready; ${stays}`;
    const container = app(script, { volumeMounts, readinessProbe: probe({ ...sh('[ -e /v/ready ]'), failureThreshold: 1 }) });
    await agent.declare('flips', pod([container], { volumes }));
    const ready = await agent.logged('ready', change('readiness', 'success'));
    await agent.logged('not ready', change('readiness', 'failure'), agent.lines.indexOf(ready));
    assert.equal((await agent.up('flips'))['app']?.attempt, 0);
  });

  test('httpGet and tcpSocket reach the pod at its address, by the name of a port', async (t) => {
    const agent = await AgentUnderTest.start(t);
    const ports = [{ name: 'web', containerPort: 8080 }];
    const script = `mkdir /www && echo hello > /www/index.html && busybox httpd -f -p 8080 -h /www & ${stays}`;
    await agent.declare('http', pod([app(script, { ports, readinessProbe: probe({ httpGet: { port: 'web', path: '/' } }) })]));
    await agent.declare('tcp', pod([app(script, { ports, readinessProbe: probe({ tcpSocket: { port: 'web' } }) })]));
    await agent.declare('missing', pod([app(script, { ports, readinessProbe: probe({ httpGet: { port: 8080, path: '/none' } }) })]));
    const of =
      (name: string) =>
      (line: LogLine): boolean =>
        String(line['pod']).includes(agent.pod(name)) && change('readiness', 'success')(line);
    await agent.logged('http is ready', of('http'));
    await agent.logged('tcp is ready', of('tcp'));
    await agent.logged('missing', event('Unhealthy', 'Readiness probe failed: HTTP probe failed with statuscode: 404'));
    assert.ok(!agent.lines.some(of('missing')));
  });

  test('a command that takes too long has failed', async (t) => {
    const agent = await AgentUnderTest.start(t);
    await agent.declare('slow', pod([app(stays, { readinessProbe: probe({ exec: { command: ['sleep', '20'] }, timeoutSeconds: 1 }) })]));
    await agent.logged('timed out', event('Unhealthy', 'Readiness probe failed: command "sleep 20" timed out after 1s'));
  });

  test('what is ready stays ready while the agent is killed and started again', async (t) => {
    const agent = await AgentUnderTest.start(t);
    const probes = { startupProbe: probe(sh('true')), readinessProbe: probe({ ...sh('echo asked >> /v/asked'), periodSeconds: 2 }) };
    await agent.declare('stable', pod([app(stays, { volumeMounts, ...probes })], { volumes }));
    await agent.logged('ready', change('readiness', 'success'));
    const { app: before } = await agent.up('stable');
    await agent.until(
      'it is noted',
      async () => (await textOf(join(agent.rootDir, 'passed_probes.json'))).split(before?.id ?? '?').length === 3,
    );
    await agent.kill('SIGKILL');
    const asked = await file(agent, 'stable', 'asked');
    const times = (await textOf(asked)).length;
    const from = agent.lines.length;
    agent.run();
    await agent.until('it is asked again', async () => (await textOf(asked)).length > times);
    await agent.logged('and fine', ({ msg, probe: of, outcome }) => msg === 'probe' && of === 'readiness' && outcome === 'success', from);
    assert.deepEqual(
      agent.lines.slice(from).filter(({ msg, probe: of }) => msg === 'probe result changed' || (msg === 'probe' && of === 'startup')),
      [],
    );
    assert.equal((await agent.up('stable'))['app']?.id, before?.id);
  });
});

describe('hooks', { timeout: 300_000 }, () => {
  test('preStop runs before the container is told to end, with the grace period for both', async (t) => {
    const agent = await AgentUnderTest.start(t);
    const lifecycle = { preStop: { exec: { command: ['sh', '-c', 'echo hook >> /v/order; sleep 1; echo done >> /v/order'] } } };
    const container = app("trap 'echo term >> /v/order; sleep 0.2; exit 0' TERM; while :; do sleep 1000 & wait $!; done", {
      volumeMounts,
      lifecycle,
    });
    await agent.declare('polite', pod([container], { volumes: [{ name: 'v', hostPath: { path: agent.dir } }] }));
    await agent.up('polite');
    await agent.remove('polite');
    await agent.gone('polite');
    assert.equal(await textOf(join(agent.dir, 'order')), 'hook\ndone\nterm\n');
  });

  test('a preStop that outlives the grace period leaves 2 s for the container to end', async (t) => {
    const agent = await AgentUnderTest.start(t);
    const lifecycle = { preStop: { exec: { command: ['sh', '-c', 'echo hook >> /v/order; sleep 100; echo done >> /v/order'] } } };
    const container = app("trap 'echo term >> /v/order; exit 0' TERM; while :; do sleep 1000 & wait $!; done", { volumeMounts, lifecycle });
    await agent.declare(
      'late',
      pod([container], { volumes: [{ name: 'v', hostPath: { path: agent.dir } }], terminationGracePeriodSeconds: 3 }),
    );
    await agent.up('late');
    const sinceMs = Date.now();
    await agent.remove('late');
    await agent.gone('late');
    const tookMs = Date.now() - sinceMs;
    assert.ok(tookMs >= 3000 && tookMs < 15_000, `${tookMs} ms`);
    assert.equal(await textOf(join(agent.dir, 'order')), 'hook\nterm\n');
  });

  test('a preStop of a pod whose manifest went while the agent was away runs, too', async (t) => {
    const agent = await AgentUnderTest.start(t);
    const lifecycle = { preStop: { exec: { command: ['sh', '-c', 'echo hook >> /v/order'] } } };
    await agent.declare(
      'orphan',
      pod([app(stays, { volumeMounts, lifecycle })], { volumes: [{ name: 'v', hostPath: { path: agent.dir } }] }),
    );
    await agent.up('orphan');
    await agent.kill();
    await agent.remove('orphan');
    agent.run();
    await agent.gone('orphan');
    assert.equal(await textOf(join(agent.dir, 'order')), 'hook\n');
  });

  test('postStart runs in the container that has just started', async (t) => {
    const agent = await AgentUnderTest.start(t);
    const lifecycle = { postStart: { exec: { command: ['sh', '-c', 'echo started > /v/started'] } } };
    await agent.declare('begins', pod([app(stays, { volumeMounts, lifecycle })], { volumes }));
    await agent.phase('begins', 'Running');
    assert.equal(await textOf(await file(agent, 'begins', 'started')), 'started\n');
  });

  test('a postStart that fails kills its container, and the pod says why', async (t) => {
    const agent = await AgentUnderTest.start(t);
    const lifecycle = { postStart: { exec: { command: ['sh', '-c', 'echo no way; exit 7'] } } };
    await agent.declare('refuses', pod([app(stays, { lifecycle })]));
    const { message } = await agent.logged('told', event('FailedPostStartHook'));
    assert.equal(message, 'PostStartHook failed');
    const { why } = await agent.logged('what it was', ({ msg }) => msg === 'lifecycle hook failed');
    assert.match(
      String(why),
      /^Exec lifecycle hook \(\[sh -c echo no way; exit 7\]\) for Container "app" in Pod ".*" failed - error: command 'sh -c echo no way; exit 7' exited with 7: no way\n, message: "no way\\n"$/,
    );
    await agent.until('it has ended', () => agent.engine.events.some(({ action, container }) => action === 'die' && container === 'app'));
    await agent.until('it begins again', async () =>
      (await agent.containers('refuses')).some(({ container, attempt }) => container === 'app' && attempt === 1),
    );
  });
});
