import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Logger, silentLogger } from '../../../../src/base/logger.ts';
import { EventLog } from '../../../../src/cluster/events/event-log.ts';
import { nodeReference } from '../../../../src/model/object-reference.ts';
import { aPod } from '../../../builders/a-pod.ts';

test('an event is a line at level 2: about a pod by namespace and name, about a node by its name', () => {
  const lines: unknown[] = [];
  const log: Logger = { ...silentLogger, v: (...line) => void lines.push(line) };
  const events = new EventLog(log);
  events.record(aPod('web'), 'Normal', 'Started', 'Started container app', 'app');
  events.record(nodeReference('lab'), 'Normal', 'Starting', 'Starting kubelet.');
  assert.deepEqual(lines, [
    [
      2,
      'event',
      {
        pod: 'default/web',
        uid: aPod('web').metadata.uid,
        container: 'app',
        type: 'Normal',
        reason: 'Started',
        message: 'Started container app',
      },
    ],
    [2, 'event', { object: 'lab', container: undefined, type: 'Normal', reason: 'Starting', message: 'Starting kubelet.' }],
  ]);
});
