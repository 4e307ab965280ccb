import assert from 'node:assert/strict';
import { test } from 'node:test';
import { silentLogger } from '../../../src/base/logger.ts';
import { FieldNotices } from '../../../src/agent/field-notices.ts';
import type { EventRecorder } from '../../../src/ports/event-recorder.ts';
import { aPod } from '../../builders/a-pod.ts';

/** This node runs Linux. */
const forWindows = { securityContext: { windowsOptions: { hostProcess: true } } };

function noticesHeard(): { readonly notices: FieldNotices; readonly events: string[]; readonly lines: string[] } {
  const events: string[] = [];
  const lines: string[] = [];
  const recorder: EventRecorder = { record: (_about, type, reason, message) => events.push(`${type} ${reason} ${message}`) };
  const log = { ...silentLogger, warn: (_message: string, fields?: object) => lines.push(JSON.stringify(fields)) };
  return { notices: new FieldNotices(recorder, log), events, lines };
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
