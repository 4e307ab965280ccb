import assert from 'node:assert/strict';
import { test } from 'node:test';
import { happeningsLog } from '../../../../src/agent/trace/happenings-log.ts';
import { type HeardLine, heardLogger } from '../../../../src/base/heard-logger.ts';
import { silentLogger } from '../../../../src/base/logger.ts';
import type { PodUid } from '../../../../src/model/pod.ts';

test('what is not as it should be, or comes seldom, is heard under its stream; what comes again and again is for the log at --v=5', () => {
  const heard: HeardLine[] = [];
  const { probeTried, volumeMounted, leaseTried, keyStarted, relisted } = happeningsLog(
    heardLogger(silentLogger, (line) => heard.push(line)),
  );
  const probe = { uid: 'u' as PodUid, container: 'app', kind: 'liveness', atMs: 0, tookMs: 3 } as const;
  probeTried({ ...probe, outcome: 'success', message: 'ok' });
  probeTried({ ...probe, outcome: 'failure', message: 'refused' });
  volumeMounted({ plugin: 'kubernetes.io/secret', tookMs: 1, failed: false });
  volumeMounted({ plugin: 'kubernetes.io/secret', tookMs: 1, failed: true });
  leaseTried({ error: undefined });
  keyStarted({ queue: 'pods', key: 'u' });
  relisted({ atMs: 0, tookMs: 1, intervalMs: undefined, pods: [] });
  assert.deepEqual(
    heard.map(({ stream, level, message, fields }) => [stream, level, message, fields['uid']]),
    [
      ['probes', 4, 'probed', 'u'],
      ['volumes', 4, 'volume not mounted', undefined],
      ['lease', 4, 'node lease renewed', undefined],
    ],
  );
});
