import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { stateFiles } from '../../../src/agent/state-files.ts';
import { silentLogger } from '../../../src/base/logger.ts';
import type { Container, ContainerStatus, Pod, PodStatus } from '../../../src/model/pod.ts';
import { formatTime } from '../../../src/model/time.ts';
import type { ContainerId } from '../../../src/ports/container-runtime.ts';
import { PassedProbesFile } from '../../../src/probes/passed-probes-file.ts';
import { ProbeManager, type ProbeManagerDeps } from '../../../src/probes/probe-manager.ts';
import type { ProbeExecuted } from '../../../src/ports/happenings.ts';
import type { ProbeOutcome } from '../../../src/probes/probe-outcome.ts';
import { aContainer, aPod } from '../../builders/a-pod.ts';
import { FakeClock } from '../../fakes/fake-clock.ts';

const A = 'a'.repeat(8) as ContainerId;
const B = 'b'.repeat(8) as ContainerId;
const exec = { exec: { command: ['check'] } };
const ok: ProbeOutcome = { result: 'success', output: '' };
const bad: ProbeOutcome = { result: 'failure', output: 'no' };

/** Probes of one pod, whose status and outcomes the test decides. */
class Probing {
  readonly clock: FakeClock;
  readonly ran: { readonly atMs: number; readonly id: string }[] = [];
  readonly events: string[] = [];
  readonly told: string[] = [];
  readonly executions: ProbeExecuted[] = [];
  readonly pod: Pod;
  readonly manager: ProbeManager;
  outcome: () => Promise<ProbeOutcome> = async () => ok;
  status: PodStatus | undefined;
  readonly #stop = new AbortController();
  readonly #done: Promise<void>;

  constructor(container: Partial<Container>, over: Partial<ProbeManagerDeps> = {}, clock = new FakeClock()) {
    this.clock = clock;
    this.pod = aPod('web', { containers: [aContainer('app', container)] });
    this.manager = new ProbeManager({
      clock,
      log: silentLogger,
      events: { record: (_pod, type, reason, message, name) => this.events.push(`${type} ${reason} ${name}: ${message}`) },
      random: () => 0.5,
      statusOf: () => this.status,
      previousStatus: () => undefined,
      runProbe: (_probe, { id }) => {
        this.ran.push({ atMs: clock.now(), id });
        return this.outcome();
      },
      tell: { probeTried: () => {}, probeExecuted: (execution) => this.executions.push(execution) },
      file: undefined,
      ...over,
    });
    this.manager.changes.subscribe((uid) => this.told.push(uid));
    this.#done = this.manager.run(this.#stop.signal);
  }

  running(id: ContainerId, over: Partial<ContainerStatus> = {}): void {
    const state = { running: { startedAt: formatTime(this.clock.now()) } };
    const app: ContainerStatus = {
      name: 'app',
      image: '',
      imageID: '',
      ready: false,
      restartCount: 0,
      started: true,
      containerID: `docker://${id}`,
      state,
      ...over,
    };
    this.status = { phase: 'Running', startTime: formatTime(this.clock.now()), containerStatuses: [app] };
  }

  async stop(): Promise<void> {
    this.#stop.abort(new Error('the test ends'));
    await this.#done;
  }
}

describe('the probes of a pod', () => {
  let probing: Probing;
  afterEach(async () => {
    await probing.stop();
    assert.equal(probing.clock.actions.length, 0, 'no timer is left');
  });

  test('run each period, as soon as there is a container', async () => {
    probing = new Probing({ livenessProbe: { ...exec, periodSeconds: 10 } });
    probing.manager.follow(probing.pod);
    await probing.clock.advance(15_000);
    assert.deepEqual(probing.ran, []);
    probing.running(A);
    await probing.clock.advance(20_000);
    assert.deepEqual(
      probing.ran.map(({ atMs }) => atMs),
      [20_000, 30_000],
    );
  });

  test('of readiness come at once when the container has started', async () => {
    probing = new Probing({ readinessProbe: { ...exec, periodSeconds: 10 } });
    probing.manager.follow(probing.pod);
    await probing.clock.advance(3_000);
    probing.running(A);
    assert.equal(probing.manager.readiness(A), undefined);
    if (probing.status) probing.manager.reported(probing.pod.metadata.uid, probing.status);
    await probing.clock.advance(0);
    assert.equal(probing.manager.readiness(A), 'success');
    assert.deepEqual(probing.told, [probing.pod.metadata.uid]);
    await probing.clock.advance(10_000);
    assert.deepEqual(
      probing.ran.map(({ atMs }) => atMs),
      [3_000, 13_000],
    );
  });

  test('wait for the initial delay, counted from the start of the container', async () => {
    probing = new Probing({ livenessProbe: { ...exec, periodSeconds: 1, initialDelaySeconds: 5 } });
    probing.manager.follow(probing.pod);
    await probing.clock.advance(2_000);
    probing.running(A);
    await probing.clock.advance(6_000);
    assert.equal(probing.ran[0]?.atMs, 7_000);
  });

  test('that fail often enough wake the pod once, and hold until there is another container', async () => {
    probing = new Probing({ livenessProbe: { ...exec, periodSeconds: 1, failureThreshold: 3 } });
    probing.manager.follow(probing.pod);
    probing.running(A);
    probing.outcome = async () => bad;
    await probing.clock.advance(1_900);
    assert.equal(probing.manager.liveness(A), 'success');
    await probing.clock.advance(5_000);
    assert.equal(probing.manager.liveness(A), 'failure');
    assert.equal(probing.ran.length, 3);
    assert.deepEqual(probing.told, [probing.pod.metadata.uid]);
    assert.deepEqual(new Set(probing.events), new Set(['Warning Unhealthy app: Liveness probe failed: no']));
    probing.outcome = async () => ok;
    probing.running(B);
    await probing.clock.advance(1_000);
    assert.equal(probing.manager.liveness(B), 'success');
    assert.equal(probing.manager.liveness(A), undefined);
    assert.equal(probing.ran.at(-1)?.id, B);
  });

  test('that cannot be executed are tried three times and say nothing', async () => {
    probing = new Probing({ readinessProbe: { ...exec, periodSeconds: 10 } });
    probing.outcome = async () => Promise.reject(new Error('gone'));
    probing.manager.follow(probing.pod);
    probing.running(A);
    await probing.clock.advance(1_000);
    assert.equal(probing.ran.length, 3);
    assert.deepEqual(probing.events, ['Warning Unhealthy app: Readiness probe errored: gone']);
    assert.deepEqual(probing.executions, []);
  });

  test('warn and pass when the answer is a warning', async () => {
    probing = new Probing({ readinessProbe: { ...exec, periodSeconds: 10 } });
    probing.outcome = async () => ({ result: 'warning', output: 'elsewhere' });
    probing.manager.follow(probing.pod);
    probing.running(A);
    await probing.clock.advance(1_000);
    assert.equal(probing.manager.readiness(A), 'success');
    assert.deepEqual(probing.events, ['Warning ProbeWarning app: Readiness probe warning: elsewhere']);
    assert.deepEqual(
      probing.executions.map(({ kind, result, container }) => ({ kind, result, container })),
      [{ kind: 'readiness', result: 'successful', container: 'app' }],
    );
  });

  test('of liveness and startup end when the pod does, readiness goes on', async () => {
    const period = { ...exec, periodSeconds: 1 };
    probing = new Probing({ readinessProbe: period, livenessProbe: period });
    probing.manager.follow(probing.pod);
    probing.running(A);
    await probing.clock.advance(100);
    assert.equal(probing.ran.length, 2);
    probing.manager.follow({ ...probing.pod, metadata: { ...probing.pod.metadata, deletionTimestamp: formatTime(0) } });
    await probing.clock.advance(2_000);
    assert.equal(probing.ran.length, 4);
    assert.deepEqual(
      probing.manager.table(probing.pod.metadata.uid).map(({ kind, state }) => `${kind} ${state}`),
      ['readiness probing', 'liveness stopped'],
    );
    probing.manager.forget(probing.pod.metadata.uid);
    await probing.clock.advance(2_000);
    assert.equal(probing.ran.length, 4);
    assert.deepEqual([probing.manager.readiness(A), probing.manager.liveness(A)], [undefined, undefined]);
  });

  test('leave nothing behind: neither what they found nor what was known from before, asked for or not', async () => {
    const ran = (id: string, name: string): ContainerStatus => ({
      name,
      image: '',
      imageID: '',
      ready: true,
      started: true,
      restartCount: 0,
      containerID: `docker://${id}`,
      state: { running: {} },
    });
    probing = new Probing(
      { readinessProbe: exec },
      {
        previousStatus: () => ({ containerStatuses: [ran(A, 'app'), ran(B, 'without probes')] }),
      },
    );
    probing.manager.follow(probing.pod);
    probing.running(A);
    await probing.clock.advance(100);
    assert.deepEqual([probing.manager.readiness(A), probing.manager.readiness(B)], ['success', 'success']);
    const { uid } = probing.pod.metadata;
    probing.manager.forget(uid);
    assert.deepEqual(
      [probing.manager.readiness(A), probing.manager.readiness(B), probing.manager.startup(B)],
      [undefined, undefined, undefined],
    );
  });

  test('end with the pod that has succeeded or failed', async () => {
    probing = new Probing({ readinessProbe: { ...exec, periodSeconds: 1 } });
    probing.manager.follow(probing.pod);
    probing.running(A);
    await probing.clock.advance(100);
    probing.status = { ...probing.status, phase: 'Failed' };
    await probing.clock.advance(1_000);
    assert.equal(probing.manager.readiness(A), undefined);
    probing.manager.follow(probing.pod);
    await probing.clock.advance(5_000);
    assert.equal(probing.ran.length, 1);
  });

  test('begin anew when their declaration changes', async () => {
    probing = new Probing({ readinessProbe: { ...exec, periodSeconds: 100 } });
    probing.manager.follow(probing.pod);
    probing.running(A);
    await probing.clock.advance(0);
    const [container] = probing.pod.spec.containers;
    const readinessProbe = { ...exec, periodSeconds: 1 };
    probing.manager.follow({
      ...probing.pod,
      spec: { ...probing.pod.spec, containers: [aContainer('app', { ...container, readinessProbe })] },
    });
    await probing.clock.advance(3_000);
    assert.equal(probing.ran.length, 5);
  });

  test('are shown with what they found lately', async () => {
    probing = new Probing({ readinessProbe: { ...exec, periodSeconds: 1, failureThreshold: 100 } });
    probing.outcome = async () => bad;
    probing.manager.follow(probing.pod);
    probing.running(A);
    await probing.clock.advance(20_000);
    const [row] = probing.manager.table(probing.pod.metadata.uid);
    assert.equal(row?.run, 21);
    assert.equal(row?.history.length, 10);
    assert.deepEqual(row?.history.at(-1), { atMs: 20_000, tookMs: 0, containerId: A, outcome: 'failure', message: 'no' });
  });

  test('of a sidecar run, and of other init containers do not', async () => {
    probing = new Probing({});
    const readinessProbe = { ...exec, periodSeconds: 1 };
    const initContainers = [aContainer('side', { readinessProbe, restartPolicy: 'Always' }), aContainer('setup', { readinessProbe })];
    probing.manager.follow({ ...probing.pod, spec: { ...probing.pod.spec, initContainers } });
    assert.deepEqual(
      probing.manager.table(probing.pod.metadata.uid).map(({ container }) => container),
      ['side'],
    );
    await probing.clock.advance(0);
  });
});

describe('after a restart of the agent', () => {
  let dir: string;
  beforeEach(async () => {
    dir = await mkdtemp(join(tmpdir(), 'probes-'));
  });
  afterEach(() => rm(dir, { recursive: true }));
  const probes = { startupProbe: exec, readinessProbe: { ...exec, periodSeconds: 10 } };

  test('what had passed counts until it is probed, and the probes do not come all at once', async () => {
    const clock = new FakeClock();
    const file = new PassedProbesFile(stateFiles(dir, { log: silentLogger }), { clock, log: silentLogger });
    const first = new Probing(probes, { file }, clock);
    first.manager.follow(first.pod);
    first.running(A, { started: false });
    await clock.advance(0);
    first.running(A);
    await clock.advance(10_000);
    assert.equal(first.manager.readiness(A), 'success');
    await first.stop();
    assert.deepEqual(JSON.parse(await readFile(join(dir, 'passed_probes.json'), 'utf8')), { version: 1, readiness: [A], startup: [A] });

    await clock.advance(60_000);
    const second = new Probing(probes, { file }, clock);
    second.status = first.status;
    assert.deepEqual(
      [second.manager.readiness(A), second.manager.startup(A), second.manager.liveness(A)],
      ['success', 'success', undefined],
    );
    second.manager.follow(second.pod);
    if (second.status) second.manager.reported(second.pod.metadata.uid, second.status);
    await clock.advance(4_999);
    assert.deepEqual(second.ran, []);
    await clock.advance(1);
    assert.equal(second.ran.length, 1);
    assert.deepEqual([second.manager.readiness(A), second.told.length], ['success', 0]);
    await second.stop();
  });

  test('the API server knows what was ready, when nobody else does', async () => {
    const app = { name: 'app', image: '', imageID: '', restartCount: 0, containerID: `docker://${A}`, state: { running: {} } };
    const probing = new Probing(probes, {
      previousStatus: () => ({ containerStatuses: [{ ...app, ready: true, started: true }] }),
    });
    probing.manager.follow(probing.pod);
    assert.deepEqual([probing.manager.readiness(A), probing.manager.startup(A)], ['success', 'success']);
    await probing.stop();
  });

  test('containers that nobody asks about are forgotten', async () => {
    const clock = new FakeClock();
    const file = new PassedProbesFile(stateFiles(dir, { log: silentLogger }), { clock, log: silentLogger });
    const probing = new Probing({}, { file, previousStatus: () => undefined }, clock);
    await probing.stop();
    const again = new Probing({}, { file: Object.assign(file, { load: () => ({ readiness: [A], startup: [] }) }) }, clock);
    assert.equal(again.manager.readiness(A), 'success');
    await clock.advance(301_000);
    assert.equal(again.manager.readiness(A), undefined);
    await again.stop();
  });
});
