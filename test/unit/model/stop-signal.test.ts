import assert from 'node:assert/strict';
import { test } from 'node:test';
import { stopSignalOf } from '../../../src/model/stop-signal.ts';

test('a stop signal is told as Kubernetes writes it, however an image does', () => {
  const table = [
    [undefined, 'SIGTERM'],
    ['', 'SIGTERM'],
    ['SIGQUIT', 'SIGQUIT'],
    ['quit', 'SIGQUIT'],
    ['10', 'SIGUSR1'],
    ['SIGRTMIN+3', 'SIGRTMIN+3'],
  ] as const;
  for (const [text, signal] of table) assert.equal(stopSignalOf(text), signal);
});
