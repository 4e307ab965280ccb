import assert from 'node:assert/strict';
import { test } from 'node:test';
import { hugePageBytes } from '../../../src/model/huge-page-medium.ts';
import type { Pod } from '../../../src/model/pod.ts';
import { aContainer, aPod } from '../../builders/a-pod.ts';

const asking = (...sizes: readonly string[]): Pod =>
  aPod('web', {
    containers: [aContainer('app')],
    initContainers: sizes.map((size, i) => aContainer(`i${i}`, { resources: { requests: { [`hugepages-${size}`]: '1Gi', cpu: '1' } } })),
  });

test('the pages of a volume are those that its medium names or the only ones that the pod asks for', () => {
  assert.equal(hugePageBytes('HugePages', asking('2Mi')), 2_097_152n);
  assert.equal(hugePageBytes('HugePages', asking('2Mi', '2048Ki')), 2_097_152n);
  assert.equal(hugePageBytes('HugePages-1Gi', asking('2Mi', '1Gi')), 1_073_741_824n);
  assert.equal(hugePageBytes('HugePages', aPod('web', { resources: { requests: { 'hugepages-1Gi': '1Gi' } } })), 1_073_741_824n);
});

test('a pod that asks for other pages, for several or for none has no such volume', () => {
  const none = /: hugePages storage requested, but there is no resource request for huge pages$/;
  assert.throws(() => hugePageBytes('HugePages', asking()), none);
  assert.throws(() => hugePageBytes('HugePages-1Gi', asking('2Mi')), none);
  assert.throws(() => hugePageBytes('HugePages', asking('2Mi', '1Gi')), {
    message: "medium: HugePages can't be used if container requests multiple huge page sizes",
  });
});
