import assert from 'node:assert/strict';
import { test } from 'node:test';
import { samePodStatus } from '../../../src/model/same-pod-status.ts';

const condition = (type: string, status = 'True') => ({ type, status });

test('a condition of the kubelet that has gone is news, and one of others is none', () => {
  const ready = condition('Ready');
  assert.ok(!samePodStatus({ conditions: [ready, condition('PodResizeInProgress')] }, { conditions: [ready] }));
  assert.ok(!samePodStatus({ conditions: [ready] }, { conditions: [ready, condition('PodResizePending')] }));
  assert.ok(!samePodStatus({ conditions: [ready] }, { conditions: [condition('Ready', 'False')] }));
  assert.ok(samePodStatus({ conditions: [ready, condition('example.com/gate')] }, { conditions: [ready] }));
});
