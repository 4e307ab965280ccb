import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Container } from '../../../src/model/pod.ts';
import { mayRestart, mayRestartAll, restartActionFor, restartsAfter } from '../../../src/model/should-restart-container.ts';
import { aContainer } from '../../builders/a-pod.ts';

const rule = (action: string, operator: string, ...values: number[]): NonNullable<Container['restartPolicyRules']>[number] => ({
  action,
  exitCodes: { operator, values },
});
const never = { restartPolicy: 'Never' };

test('the first rule that matches decides, then the policy of the container, then that of the pod', () => {
  const ruled = aContainer('c', { restartPolicy: 'Never', restartPolicyRules: [rule('Restart', 'In', 42), rule('Other', 'NotIn', 1)] });
  assert.equal(restartActionFor(ruled, 42), 'Restart');
  assert.equal(restartActionFor(ruled, 7), 'Other');
  assert.equal(restartActionFor(ruled, 1), undefined);
  assert.equal(restartsAfter({ restartPolicy: 'Always' }, ruled, 42), true);
  assert.equal(restartsAfter({ restartPolicy: 'Always' }, ruled, 1), false);
  assert.equal(restartsAfter(never, aContainer('c', { restartPolicy: 'OnFailure' }), 1), true);
  assert.equal(restartsAfter(never, aContainer('c'), 1), false);
});

test('rules count only beside a policy of the container', () => {
  assert.equal(restartsAfter(never, aContainer('c', { restartPolicyRules: [rule('Restart', 'In', 42)] }), 42), false);
});

test('without an exit code a rule that restarts is enough', () => {
  assert.equal(mayRestart(never, aContainer('c', { restartPolicy: 'Never', restartPolicyRules: [rule('Restart', 'In', 42)] })), true);
  assert.equal(mayRestart({ restartPolicy: 'Always' }, aContainer('c', { restartPolicy: 'Never' })), false);
});

test('one rule is enough for all containers to restart', () => {
  const spec = { containers: [aContainer('a'), aContainer('b', { restartPolicyRules: [rule('RestartAllContainers', 'In', 1)] })] };
  assert.equal(mayRestartAll(spec), true);
  assert.equal(mayRestartAll({ containers: [aContainer('a')] }), false);
});
