import assert from 'node:assert/strict';
import { test } from 'node:test';
import { silentLogger } from '../../../src/base/logger.ts';
import { FieldNotices } from '../../../src/agent/field-notices.ts';
import type { EngineFeatures } from '../../../src/ports/engine-features.ts';
import type { EventRecorder } from '../../../src/ports/event-recorder.ts';
import { aPod } from '../../builders/a-pod.ts';

/** This node runs Linux. */
const forWindows = { securityContext: { windowsOptions: { hostProcess: true } } };

function noticesHeard(features?: EngineFeatures): { readonly notices: FieldNotices; readonly events: string[]; readonly lines: string[] } {
  const events: string[] = [];
  const lines: string[] = [];
  const recorder: EventRecorder = { record: (_about, type, reason, message) => events.push(`${type} ${reason} ${message}`) };
  const log = { ...silentLogger, warn: (_message: string, fields?: object) => lines.push(JSON.stringify(fields)) };
  return { notices: new FieldNotices(recorder, log, { lastFeatures: () => features }), events, lines };
}

test('a pod is told of once, in one event and one line, until it asks for something else', () => {
  const { notices, events, lines } = noticesHeard();
  const pod = aPod('web', forWindows);
  const changed = { ...pod, spec: { ...pod.spec, containers: pod.spec.containers.map((each) => ({ ...each, ...forWindows })) } };
  for (const [op, which] of [
    ['ADD', pod],
    ['RECONCILE', pod],
    ['UPDATE', changed],
    ['DELETE', changed],
  ] as const)
    notices.take({ op, source: 'api', pods: [which] });
  assert.equal(lines.length, 2);
  assert.deepEqual(
    events.map((event) => event.slice(0, 70)),
    [
      'Warning FieldNotHonoured spec.securityContext.windowsOptions is ignore',
      'Warning FieldNotHonoured spec.containers[0].securityContext.windowsOpt',
    ],
  );
  assert.match(events[1] ?? '', /; spec\.securityContext\.windowsOptions is ignored: /);
});

test('what is refused is told by who refuses it', () => {
  const { notices, events, lines } = noticesHeard();
  notices.take({ op: 'ADD', source: 'api', pods: [aPod('web', { os: { name: 'windows' } })] });
  assert.deepEqual([events, lines], [[], []]);
});

test('a pod that is gone and comes back is told of again', () => {
  const { notices, events } = noticesHeard();
  const pod = aPod('web', forWindows);
  for (const op of ['ADD', 'REMOVE', 'ADD'] as const) notices.take({ op, source: 'file', pods: [pod] });
  assert.equal(events.length, 2);
});

test('a pod whose ids are its own on this engine is not told that they are shared', () => {
  const shared: EngineFeatures = { handlers: [], supplementalGroupsPolicy: true, imageVolumes: 'never' };
  for (const [features, told] of [
    [undefined, 1],
    [shared, 1],
    [{ ...shared, idsForEachPod: true }, 0],
  ] as const) {
    const { notices, events } = noticesHeard(features);
    notices.take({ op: 'ADD', source: 'api', pods: [aPod('web', { hostUsers: false })] });
    assert.equal(events.filter((event) => event.includes('spec.hostUsers is approximated')).length, told);
  }
});
