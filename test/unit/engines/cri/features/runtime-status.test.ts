import assert from 'node:assert/strict';
import { test } from 'node:test';
import { firstValueFrom } from 'rxjs';
import { RuntimeService } from '../../../../../src/engines/cri/api/runtime_pb.js';
import { aborted } from '../../../../../src/base/aborted.ts';
import { RuntimeStatus } from '../../../../../src/engines/cri/features/runtime-status.ts';
import { openCriClient } from '../../../../../src/engines/cri/client/cri-client.ts';
import { CriServer } from '../../../../fakes/cri-server.ts';
import type { EngineFeatures } from '../../../../../src/ports/engine-features.ts';
import { FakeClock } from '../../../../fakes/fake-clock.ts';
import { RecordingLogger } from '../../../../fakes/recording-logger.ts';
import { rpcError, ScriptedCri } from '../../../../fakes/scripted-cri.ts';

const { status } = RuntimeService.method;
const ready = { type: 'RuntimeReady', status: true, reason: '', message: '' };
const networkReady = { type: 'NetworkReady', status: true, reason: '', message: '' };
const noNetwork = {
  type: 'NetworkReady',
  status: false,
  reason: 'NetworkPluginNotReady',
  message: 'Network plugin returns error: cni plugin not initialized',
};

const known: EngineFeatures = { handlers: [], supplementalGroupsPolicy: false, imageVolumes: 'never' };
/** Of a runtime that does not say what it can do. */
const hanging = { now: (signal: AbortSignal) => aborted(signal).then(() => Promise.reject<EngineFeatures>(new Error('no answer'))) };

/** Follows a runtime that says so, from its first answer on. */
async function following(conditions: readonly object[]) {
  const clock = new FakeClock();
  const log = new RecordingLogger();
  const cri = new ScriptedCri();
  const says = (next: readonly object[]): void => void cri.answer(status, () => ({ status: { conditions: [...next] } }));
  says(conditions);
  let asked = 0;
  const features = {
    now: async () => {
      asked++;
      return known;
    },
  };
  const runtime = new RuntimeStatus({ client: cri, features, clock, log });
  const stop = new AbortController();
  let changes = 0;
  runtime.networkChanges.subscribe(() => changes++);
  const { service } = runtime;
  const running = service.run(stop.signal, undefined as never);
  await service.ready?.(stop.signal);
  return {
    clock,
    log,
    cri,
    runtime,
    says,
    changes: () => changes,
    asked: () => asked,
    async [Symbol.asyncDispose]() {
      stop.abort();
      await running;
    },
  };
}
const said = ({ lines }: RecordingLogger): readonly string[] => lines.map(({ message }) => message);

test('a runtime that is ready has no faults', async () => {
  await using at = await following([ready, networkReady]);
  assert.deepEqual([at.runtime.fault(), at.runtime.networkFault(), at.log.lines], [undefined, undefined, []]);
  await at.clock.advance(10_000);
  assert.equal(at.cri.count('Status'), 3);
  assert.equal(at.asked(), 1, 'what it can do is known before the first pod');
});

test('what is not ready is told as a kubelet tells it, said once, and once when it is over', async () => {
  await using at = await following([ready, noNetwork]);
  const words =
    'container runtime network not ready: NetworkReady=false reason:NetworkPluginNotReady message:Network plugin returns error: cni plugin not initialized';
  assert.equal(at.runtime.networkFault(), words);
  assert.equal(at.runtime.fault(), undefined);
  await at.clock.advance(60_000);
  assert.deepEqual(said(at.log), ['the network of the container runtime is not ready; asking again']);
  assert.equal(at.changes(), 0);

  at.says([{ ...ready, status: false, reason: 'Down', message: 'no shim' }, networkReady]);
  await at.clock.advance(5_000);
  assert.equal(at.runtime.networkFault(), undefined);
  assert.equal(at.changes(), 1);
  assert.equal(at.runtime.fault(), 'container runtime not ready: RuntimeReady=false reason:Down message:no shim');

  at.says([ready, networkReady]);
  await at.clock.advance(5_000);
  assert.equal(at.runtime.fault(), undefined);
  assert.deepEqual(said(at.log).slice(1), [
    'the container runtime is not ready; asking again',
    'the network of the container runtime is ready again',
    'the container runtime is ready again',
  ]);
  assert.equal(at.changes(), 1);
});

test('conditions that are not there are not ready', async () => {
  await using at = await following([]);
  assert.equal(at.runtime.fault(), 'container runtime not ready: <nil>');
  assert.equal(at.runtime.networkFault(), 'container runtime network not ready: <nil>');
});

test('a runtime that fails to answer keeps no pod waiting; what it said last stands', async () => {
  await using at = await following([ready, noNetwork]);
  const asked = at.cri.count('Status');
  at.cri.answer(status, () => {
    throw rpcError('Status', 'Unavailable', 'gone');
  });
  await at.clock.advance(10_000);
  assert.equal(at.cri.count('Status'), asked + 10);
  assert.match(at.runtime.networkFault() ?? '', /cni plugin not initialized$/);

  const cri = new ScriptedCri();
  const late = new FakeClock();
  const never = new RuntimeStatus({ client: cri, features: hanging, clock: late, log: new RecordingLogger() });
  const stop = new AbortController();
  const running = never.service.run(stop.signal, undefined as never);
  const isReady = never.service.ready?.(stop.signal);
  await late.advance(10_000);
  await isReady;
  assert.deepEqual([never.fault(), never.networkFault()], [undefined, undefined]);
  stop.abort();
  await running;
});

test('a runtime that hangs keeps nobody waiting for longer than ten seconds', async (t) => {
  await using server = await CriServer.listen();
  server.on(status, () => {});
  const clock = new FakeClock();
  const tell = { engineCalled: () => {} };
  const client = openCriClient({ endpoint: server.endpoint, clock, random: () => 0.5, requestTimeoutMs: 120_000, tell });
  t.after(() => client.close());
  const { service } = new RuntimeStatus({ client, features: hanging, clock, log: new RecordingLogger() });
  const stop = new AbortController();
  const asked = firstValueFrom(server.calls);
  const running = service.run(stop.signal, undefined as never);
  await asked;
  const ready = service.ready?.(stop.signal);
  await clock.advance(10_000);
  await ready;
  stop.abort();
  await running;
});
