import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BehaviorSubject, NEVER } from 'rxjs';
import { usePodCidr } from '../../../src/engines/cri/features/use-pod-cidr.ts';
import type { Node } from '../../../src/model/node.ts';
import { podCidrService } from '../../../src/node/tell-pod-cidr.ts';
import { nothingGiven } from '../../builders/node-parts.ts';
import { FakeClock } from '../../fakes/fake-clock.ts';
import { RecordingLogger } from '../../fakes/recording-logger.ts';
import { ScriptedCri } from '../../fakes/scripted-cri.ts';

const stop = new AbortController();
const nodeWith = (spec: Node['spec']): Node => ({ metadata: { name: 'n1' }, ...(spec && { spec }) });

function setUp(nodes: BehaviorSubject<Node | undefined> | undefined, podCidr = '') {
  const told: string[] = [];
  const engine = { isAway: false };
  const [clock, log] = [new FakeClock(), new RecordingLogger()];
  const service = podCidrService({
    clock,
    log,
    options: { podCidr },
    engine: {
      usePodCidr: async (range) => {
        told.push(range);
        if (engine.isAway) throw new Error('away');
      },
    },
    cluster: { exists: nodes !== undefined, nodeChanges: nodes ?? NEVER },
  });
  return { told, engine, clock, log, service };
}

test('the engine hears of the range that the API server gives this node, and of each other one, once', async (t) => {
  const ended = new AbortController();
  t.after(() => ended.abort());
  const nodes = new BehaviorSubject<Node | undefined>(undefined);
  const { told, clock, service } = setUp(nodes, '10.9.0.0/16');
  void service?.run(ended.signal, nothingGiven);
  for (const spec of [undefined, {}, { podCIDR: '10.1.0.0/24' }, { podCIDR: '10.1.0.0/24' }]) nodes.next(nodeWith(spec));
  await clock.advance(60_000);
  assert.deepEqual(told, ['10.1.0.0/24']);
  nodes.next(nodeWith({ podCIDR: '10.1.0.0/24', podCIDRs: ['10.1.0.0/24', 'fd00::/64'] }));
  nodes.next(undefined);
  nodes.next(nodeWith({ podCIDR: 'x'.repeat(201) }));
  await clock.advance(60_000);
  assert.deepEqual(told, ['10.1.0.0/24', '10.1.0.0/24,fd00::/64']);
});

test('an engine that is away is told again until it has taken it, and the log says so once', async (t) => {
  const ended = new AbortController();
  t.after(() => ended.abort());
  const { told, engine, clock, log, service } = setUp(undefined, '10.2.0.0/24');
  engine.isAway = true;
  void service?.run(ended.signal, nothingGiven);
  await clock.advance(25_000);
  engine.isAway = false;
  await clock.advance(60_000);
  assert.deepEqual(
    told,
    Array.from({ length: 4 }, () => '10.2.0.0/24'),
  );
  assert.deepEqual(
    log.lines.map(({ level, message }) => `${level} ${message}`),
    ["warn the engine has not taken the pods' range of addresses, retrying", "info the engine has the pods' range of addresses"],
  );
  ended.abort();
  await clock.advance(60_000);
  assert.equal(told.length, 4);
});

test('nothing runs where there is nothing to tell, or nobody to hear it', () => {
  assert.equal(setUp(undefined).service, undefined);
  const deps = { clock: new FakeClock(), log: new RecordingLogger(), options: { podCidr: '10.2.0.0/24' } };
  assert.equal(podCidrService({ ...deps, engine: {}, cluster: { exists: true, nodeChanges: NEVER } }), undefined);
});

test('a runtime is told by UpdateRuntimeConfig', async () => {
  const cri = new ScriptedCri();
  await assert.rejects(usePodCidr(cri, '10.3.0.0/24', stop.signal));
  assert.deepEqual(cri.asked, [{ method: 'UpdateRuntimeConfig', input: { runtimeConfig: { networkConfig: { podCidr: '10.3.0.0/24' } } } }]);
});
