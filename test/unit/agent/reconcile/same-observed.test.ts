import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sameObserved } from '../../../../src/agent/reconcile/same-observed.ts';
import { Quantity } from '../../../../src/model/quantity.ts';
import type { ObservedContainer, ObservedPod, ObservedSandbox } from '../../../../src/ports/container-runtime.ts';
import { aContainer, aPod } from '../../../builders/a-pod.ts';
import { anInstance, anObservedPod, aSandbox, exited } from '../../../builders/an-observed-pod.ts';

const pod = aPod('web', { containers: [aContainer('app')] });
const look = (app: Partial<ObservedContainer> = {}, sandbox: Partial<ObservedSandbox> = {}): ObservedPod =>
  anObservedPod(pod, { sandboxes: [aSandbox(sandbox)], containers: [anInstance(pod, 'app', app)] });
const cpu = (amount: string): Partial<ObservedContainer> => ({
  resources: { cpuLimit: Quantity.fromJson(amount), memoryLimit: undefined },
});

test('two looks that found the same are the same, whatever objects tell it', () => {
  assert.ok(sameObserved(look(), structuredClone(look())));
  assert.ok(sameObserved(look(cpu('1')), look(cpu('1'))));
  assert.ok(sameObserved(anObservedPod(pod), anObservedPod(pod)));
});

test('whatever is another makes another look: a state, an address, an amount, a container more, a field more or less', () => {
  const others: readonly ObservedPod[] = [
    look({ state: exited(0) }),
    look({ state: { phase: 'running', startedAtMs: 1 } }),
    look({ cpuset: '0-1' }),
    look({ imageNames: ['a', 'b'] }),
    look(cpu('1')),
    look({ user: { uid: 0, gid: 0 } }),
    look({}, { ready: false }),
    look({}, { ips: ['10.0.0.2', 'fd00::2'] }),
    anObservedPod(pod, { sandboxes: [aSandbox()] }),
    anObservedPod(pod, { ...look(), containers: [...look().containers, anInstance(pod, 'app', { attempt: 1 })] }),
  ];
  for (const other of others) {
    assert.ok(!sameObserved(look(), other), JSON.stringify(other));
    assert.ok(!sameObserved(other, look()), JSON.stringify(other));
  }
  assert.ok(!sameObserved(look(cpu('1')), look(cpu('2'))));
  assert.ok(!sameObserved(look({ imageNames: ['a', 'b'] }), look({ imageNames: ['a', 'c'] })));
});
