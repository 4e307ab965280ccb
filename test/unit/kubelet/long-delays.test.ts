import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { type AddressInfo, connect, createServer as createTcpServer } from 'node:net';
import { Readable } from 'node:stream';
import { test } from 'node:test';
import { systemClock } from '../../../src/base/clock.ts';
import { silentLogger } from '../../../src/base/logger.ts';
import { withDeadline } from '../../../src/base/with-deadline.ts';
import { fakeEngine } from '../../../src/engines/fake/fake-engine.ts';
import { deadline } from '../../../src/base/deadline.ts';
import { parseGoDuration } from '../../../src/model/go-duration.ts';
import type { PodStatus } from '../../../src/model/pod.ts';
import type { ContainerId } from '../../../src/ports/container-runtime.ts';
import { HookRunner } from '../../../src/probes/hook-runner.ts';
import { ProbeResults } from '../../../src/probes/probe-results.ts';
import { ProbeWorker } from '../../../src/probes/probe-worker.ts';
import { closeSocket } from '../../../src/base/close-socket.ts';
import { httpSource } from '../../../src/sources/http-source.ts';
import { aContainer, aPod } from '../../builders/a-pod.ts';
import { aPodThat } from '../../builders/pods-that.ts';
import { startAgent } from '../../fakes/agent-on-fake-engine.ts';
import { silentHappenings } from '../../fakes/silent-happenings.ts';

/** On the machine's own clock: long enough for what is due at once to come again and again. */
const A_WHILE_MS = 200;
const INT32_MAX = 2 ** 31 - 1;
/** As JavaScript has them. */
const INT64_MAX = Number(2n ** 63n - 1n);
const msOf = (duration: string): number => Number(parseGoDuration(duration)) / 1e6;
const GO_MAX = '2562047h47m16.854775807s';

for (const activeDeadlineSeconds of [31_536_000, 315_360_000, INT32_MAX, INT64_MAX])
  test(`a deadline of ${activeDeadlineSeconds} s is waited for: the pod is not looked at again and again`, async () => {
    const engine = fakeEngine({ clock: systemClock, log: silentLogger });
    const agent = startAgent({ clock: systemClock, engine });
    const pod = aPodThat('web', { activeDeadlineSeconds });
    agent.declare([pod]);
    const running = Promise.withResolvers<void>();
    const subscription = agent.statuses.changes.subscribe(({ status }) => status.phase === 'Running' && running.resolve());
    await running.promise;
    await systemClock.sleep(50);
    const before = agent.records.length;
    await systemClock.sleep(A_WHILE_MS);
    assert.ok(agent.records.length - before <= 1, `${agent.records.length - before} looks in ${A_WHILE_MS} ms`);
    assert.equal(agent.statuses.get(pod.metadata.uid)?.phase, 'Running');
    subscription.unsubscribe();
    await agent.stop();
    engine.controls.close();
  });

for (const frequency of ['600h', '6000h', GO_MAX])
  test(`a manifest URL that is to be asked each ${frequency} is asked once`, async () => {
    let requests = 0;
    const server = createServer((_, response) => {
      requests++;
      response.writeHead(200).end('{"apiVersion":"v1","kind":"PodList","items":[]}');
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
    const { snapshots } = httpSource({
      url,
      headers: [],
      pollMs: () => msOf(frequency),
      nodeName: 'n',
      clock: systemClock,
      log: silentLogger,
      tell: silentHappenings,
    });
    const first = Promise.withResolvers<void>();
    const subscription = snapshots.subscribe(() => first.resolve());
    await first.promise;
    await systemClock.sleep(A_WHILE_MS);
    subscription.unsubscribe();
    server.closeAllConnections();
    server.close();
    assert.equal(requests, 1);
  });

for (const periodSeconds of [2_147_484, 21_474_840, INT32_MAX, INT64_MAX])
  test(`a probe with a period of ${periodSeconds} s is executed once`, async () => {
    const pod = aPod('web', { containers: [aContainer('app')] });
    const startedAt = new Date(Date.now() - 60_000).toISOString();
    const status: PodStatus = {
      phase: 'Running',
      containerStatuses: [
        {
          name: 'app',
          image: '',
          imageID: '',
          ready: false,
          restartCount: 0,
          started: true,
          containerID: 'docker://c1',
          state: { running: { startedAt } },
        },
      ],
    };
    let executions = 0;
    const runProbe = async () => {
      executions++;
      return { result: 'success', output: '' } as const;
    };
    const tell = silentHappenings;
    const deps = { clock: systemClock, log: silentLogger, events: { record: () => {} }, results: new ProbeResults(), runProbe, tell };
    const probe = { exec: { command: ['true'] }, periodSeconds, timeoutSeconds: periodSeconds, failureThreshold: periodSeconds };
    const worker = new ProbeWorker({ ...deps, statusOf: () => status }, 'readiness', pod, aContainer('app'), probe);
    const probing = worker.probing(0).subscribe();
    await systemClock.sleep(A_WHILE_MS);
    probing.unsubscribe();
    assert.equal(executions, 1);
  });

for (const seconds of [31_536_000, 315_360_000, INT32_MAX, INT64_MAX])
  test(`a grace period of ${seconds} s gives a preStop hook its time`, async () => {
    const agent = new AbortController();
    let ended = false;
    const hooks = new HookRunner({
      clock: systemClock,
      log: silentLogger,
      events: { record: () => {} },
      access: {
        exec: async () => {
          const stdout = new Readable({ read: () => {} });
          const done = systemClock.sleep(A_WHILE_MS).then(() => {
            ended = true;
            stdout.push(null);
            return 0;
          });
          return { stdin: undefined, stdout, stderr: undefined, resize: async () => {}, ended: done };
        },
      },
      podIp: async () => '127.0.0.1',
      userAgent: 'kube-lifecycle/1.36',
    });
    const running = hooks.run(agent.signal);
    const container = aContainer('app', { lifecycle: { preStop: { exec: { command: ['do', 'it'] } } } });
    const pod = aPod('web', { terminationGracePeriodSeconds: seconds, containers: [container] });
    const leftMs = await hooks.preStop(pod, container, 'c1' as ContainerId, seconds * 1000, agent.signal);
    assert.equal(ended, true);
    assert.equal(leftMs, seconds * 1000);
    agent.abort(new Error('the test ends'));
    await running;
  });

for (const timeout of ['720h', '7200h', GO_MAX])
  test(`a client that may be idle for ${timeout} gets all that a stream sent before its end`, async () => {
    const sent = 64 << 20;
    const closing = Promise.withResolvers<void>();
    const server = createTcpServer((socket) => {
      socket.write(Buffer.alloc(sent));
      closeSocket(socket, systemClock, { flushMs: msOf(timeout) }).then(closing.resolve, closing.reject);
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const client = connect((server.address() as AddressInfo).port, '127.0.0.1');
    await once(client, 'connect');
    await systemClock.sleep(A_WHILE_MS);
    let received = 0;
    for await (const chunk of client as AsyncIterable<Buffer>) received += chunk.length;
    await closing.promise;
    server.close();
    assert.equal(received, sent);
  });

for (const ms of [INT32_MAX + 1, INT64_MAX, Infinity])
  test(`a call that may take ${ms} ms has its time`, async () => {
    const { signal } = new AbortController();
    using long = deadline(systemClock, ms, 'the request', signal);
    long.extend(ms);
    await withDeadline(systemClock, ms, 'the call', signal, (within) => systemClock.sleep(50, within));
    assert.deepEqual([long.missed, long.signal.aborted], [false, false]);
  });
