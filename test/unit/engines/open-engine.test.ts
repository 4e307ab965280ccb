import { LiveValue } from '../../../src/base/live.ts';
import type { LiveOptions } from '../../../src/options/kubelet-options.ts';
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { NEVER } from 'rxjs';
import { silentLogger } from '../../../src/base/logger.ts';
import { openEngine } from '../../../src/engines/open-engine.ts';
import { loadOptions } from '../../../src/options/load-options.ts';
import type { Engine } from '../../../src/ports/engine.ts';
import type { StateFiles } from '../../../src/ports/state-files.ts';
import type { Happenings, RuntimeOperation } from '../../../src/ports/happenings.ts';
import { someCgroups, someMemory } from '../../builders/some-cgroups.ts';
import { RuntimeService } from '../../../src/engines/cri/api/runtime_pb.js';
import { CriServer } from '../../fakes/cri-server.ts';
import { FakeClock } from '../../fakes/fake-clock.ts';
import { notTraced } from '../../../src/ports/tracing.ts';

const environment = { hostname: 'n', terminal: true, readFile: () => Promise.reject(new Error('no file')) };
const signal = new AbortController().signal;
const files: StateFiles = { open: () => ({ load: () => undefined, save: async () => {} }) };

async function opened(...argv: string[]): Promise<{ engine: Engine; clock: FakeClock; told: RuntimeOperation[] }> {
  const { options } = await loadOptions(argv, environment);
  const clock = new FakeClock();
  const told: RuntimeOperation[] = [];
  const tell = new Proxy({} as Happenings, {
    get: (_, kind) => (what: RuntimeOperation) => void (kind === 'runtimeOperated' && told.push(what)),
  });
  const ground = {
    live: new LiveValue<LiveOptions>(options),
    clock,
    log: silentLogger,
    random: () => 0.5,
    tell,
    tracing: notTraced,
    cgroups: someCgroups,
    memory: someMemory,
    files,
  };
  return { engine: await openEngine(options, ground, signal), clock, told };
}

const stagesOf = (engine: Engine): readonly string[] => engine.services({ relists: NEVER }).map(({ name, stage }) => `${stage}: ${name}`);

describe('the engine behind --docker-endpoint', () => {
  test('fake:// is the embedded one, whose verbs are told', async () => {
    const { engine, clock, told } = await opened('--docker-endpoint=fake://?latency=0s');
    assert.equal(engine.name, 'fake');
    assert.deepEqual(stagesOf(engine), []);
    assert.deepEqual(await engine.runtime.listPods(signal), []);
    assert.deepEqual(told, [{ operation: 'list_containers', tookMs: 0, failed: false }]);
    engine.close();
    assert.equal(clock.actions.length, 0);
  });

  test('unix:// is Docker, which nothing is asked of before it is needed', async () => {
    const { engine, clock } = await opened('--docker-endpoint=unix:///nonexistent/docker.sock');
    assert.equal(engine.name, 'docker');
    assert.equal(engine.networkFault(), undefined);
    assert.deepEqual(stagesOf(engine), [
      'beside pods: links to lost logs',
      'beside pods: lost exports of images',
      'before pods: limits without root',
      'beside pods: log rotation',
    ]);
    engine.close();
    assert.equal(clock.actions.length, 0);
  });

  test('with plugins no pod is connected before the configuration was read, for which the first pods wait', async () => {
    const { engine, clock } = await opened(
      '--docker-endpoint=unix:///nonexistent/docker.sock',
      '--network-plugin=cni',
      '--cni-conf-dir=/nonexistent',
    );
    assert.match(engine.networkFault() ?? '', /^runtime network not ready: NetworkReady=false .* cni config uninitialized$/);
    assert.deepEqual(stagesOf(engine), [
      'before pods: CNI configuration',
      'before pods: CNI sweep',
      'beside pods: links to lost logs',
      'beside pods: lost exports of images',
      'before pods: limits without root',
      'beside pods: log rotation',
    ]);
    engine.close();
    assert.equal(clock.actions.length, 0);
  });
});

test('a runtime that speaks CRI is driven by its own name, and keeps its own network', async (t) => {
  const server = await CriServer.listen();
  t.after(() => server[Symbol.asyncDispose]());
  server.answer(RuntimeService.method.version, () => ({ version: '0.1.0', runtimeName: 'containerd', runtimeVersion: 'v2.1.9' }));
  const { engine } = await opened(`--container-runtime-endpoint=${server.endpoint}`);
  assert.equal(engine.name, 'containerd');
  assert.deepEqual([engine.networkFault(), engine.runtimeFault()], [undefined, undefined]);
  const stages = stagesOf(engine);
  assert.ok(stages.includes('before pods: runtime status') && stages.includes('beside pods: log rotation'), stages.join(', '));
  assert.equal((await engine.runtime.info(signal)).version, 'v2.1.9');
  engine.close();
});
