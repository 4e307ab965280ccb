import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FieldErrors } from '../../../../src/model/validation/field-error.ts';
import { validateContainerRestartPolicy, validateResizePolicy } from '../../../../src/model/validation/restart-policy.ts';
import { aContainer } from '../../../builders/a-pod.ts';

const faults = (over: Parameters<typeof aContainer>[1], isInit = false, allowContainerRestartRules = true): readonly string[] => {
  const errors = new FieldErrors();
  validateContainerRestartPolicy(aContainer('c', over), isInit, 'c', errors, { allowContainerRestartRules });
  return errors.all.map(({ type, field, detail }) => `${type} ${field} ${detail}`);
};
const rule = (
  values: number,
): { readonly action: string; readonly exitCodes: { readonly operator: string; readonly values: number[] } } => ({
  action: 'Restart',
  exitCodes: { operator: 'In', values: Array.from({ length: values }, (_, code) => code) },
});

test('rules need a policy beside them, and are of a bounded number', () => {
  assert.deepEqual(faults({ restartPolicy: 'Never', restartPolicyRules: [rule(255)] }), []);
  assert.deepEqual(faults({ restartPolicyRules: [rule(1)] }), [
    'FieldValueRequired c.restartPolicy must specify restartPolicy when restart rules are used',
  ]);
  assert.deepEqual(faults({ restartPolicyRules: [rule(256)] }, true), [
    'FieldValueRequired c.restartPolicy must specify restartPolicy when restart rules are used',
  ]);
  assert.deepEqual(faults({ restartPolicy: 'Never', restartPolicyRules: Array.from({ length: 21 }, () => rule(1)) }), [
    'FieldValueTooMany c.restartPolicyRules must have at most 20 items',
  ]);
  assert.deepEqual(faults({ restartPolicy: 'Never', restartPolicyRules: [rule(256)] }), [
    'FieldValueTooMany c.restartPolicyRules[0].exitCodes.values must have at most 255 items',
  ]);
});

test('policies, actions and operators are those that there are', () => {
  const restartPolicyRules = [{ action: 'Stop', exitCodes: { operator: 'Is', values: [1] } }, { action: 'Restart' }];
  assert.deepEqual(faults({ restartPolicy: 'Sometimes', restartPolicyRules }), [
    'FieldValueNotSupported c.restartPolicy supported values: "Always", "Never", "OnFailure"',
    'FieldValueNotSupported c.restartPolicyRules[0].action supported values: "Restart", "RestartAllContainers"',
    'FieldValueNotSupported c.restartPolicyRules[0].exitCodes.operator supported values: "In", "NotIn"',
    'FieldValueRequired c.restartPolicyRules[1].exitCodes must be specified',
  ]);
});

test('a resize policy names a resource once, and restarts nothing in a pod that never restarts', () => {
  const resized = (
    podPolicy: string,
    ...resizePolicy: { readonly resourceName: string; readonly restartPolicy: string }[]
  ): readonly string[] => {
    const errors = new FieldErrors();
    validateResizePolicy(aContainer('c', { resizePolicy }), podPolicy, 'c', errors);
    return errors.all.map(({ type, field, detail }) => `${type} ${field} ${detail}`);
  };
  const cpu = { resourceName: 'cpu', restartPolicy: 'RestartContainer' };
  assert.deepEqual(resized('Always', cpu), []);
  assert.deepEqual(resized('Always', cpu, cpu), ['FieldValueDuplicate c.resizePolicy[1] ']);
  assert.deepEqual(resized('Never', cpu), ["FieldValueInvalid c.resizePolicy must be 'NotRequired' when pod `restartPolicy` is 'Never'"]);
  assert.deepEqual(resized('Always', { resourceName: 'gpu', restartPolicy: '' }), [
    'FieldValueNotSupported c.resizePolicy supported values: "cpu", "memory"',
    'FieldValueRequired c.resizePolicy ',
  ]);
});

test('without the gate ContainerRestartRules init containers may be sidecars, and that is all', () => {
  assert.deepEqual(faults({ restartPolicy: 'Always' }, true, false), []);
  assert.deepEqual(faults({ restartPolicy: 'Never' }, true, false), ['FieldValueNotSupported c.restartPolicy supported values: "Always"']);
  assert.deepEqual(faults({ restartPolicy: 'Never', restartPolicyRules: [rule(1)] }, false, false), [
    'FieldValueForbidden c.restartPolicy may not be set for non-init containers',
    'FieldValueForbidden c.restartPolicyRules may not be set without the feature gate ContainerRestartRules',
  ]);
});
