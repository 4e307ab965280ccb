import assert from 'node:assert/strict';
import { test } from 'node:test';
import { NodeUse } from '../../../src/model/node-use.ts';
import { insufficientResources } from '../../../src/model/node-fit.ts';
import { fitPod } from '../../../src/model/fit-pod.ts';
import type { Container, Pod, PodSpec } from '../../../src/model/pod.ts';
import { aContainer, aPod } from '../../builders/a-pod.ts';

const allocatable = { cpu: '2', memory: '4Gi', 'ephemeral-storage': '10Gi', pods: '3', 'example.com/gpu': '1' };
type Requests = Readonly<Record<string, string>>;
const asking = (requests: Requests, over: Partial<Container> = {}): Container => aContainer('c', { resources: { requests }, ...over });
const aPodAsking = (requests: Requests, over: Partial<PodSpec> = {}): Pod => aPod('p', { containers: [asking(requests)], ...over });
const lacking = (pod: Pod, others: readonly Pod[] = []): readonly string[] =>
  insufficientResources(pod, new NodeUse(others), allocatable).map(
    ({ resource, requested, used, capacity }) => `${resource} ${requested}+${used}>${capacity}`,
  );

test('what a pod asks for beside what others took must be there', () => {
  const rows: readonly (readonly [Pod, readonly Pod[], readonly string[]])[] = [
    [aPodAsking({ cpu: '2', memory: '4Gi' }), [], []],
    [aPodAsking({ cpu: '2001m' }), [], ['cpu 2001+0>2000']],
    [aPodAsking({ cpu: '1', memory: '5Gi' }), [aPodAsking({ cpu: '1500m' })], ['cpu 1000+1500>2000', 'memory 5368709120+0>4294967296']],
    [aPod('p'), [aPod('a'), aPod('b'), aPod('c')], ['pods 1+3>3']],
    // A pod that asks for nothing is not weighed against who took too much.
    [aPod('p'), [aPodAsking({ cpu: '9' })], []],
    [aPodAsking({ 'example.com/gpu': '1' }), [aPodAsking({ 'example.com/gpu': '1' })], ['example.com/gpu 1+1>1']],
    // Somebody else's resource.
    [aPodAsking({ 'other.com/thing': '1' }), [], []],
    [aPodAsking({ 'hugepages-2Mi': '2Mi' }), [], ['hugepages-2Mi 2097152+0>0']],
    [aPodAsking({ cpu: '1500m' }, { overhead: { cpu: '501m' } }), [], ['cpu 2001+0>2000']],
    [aPodAsking({ cpu: '1' }, { initContainers: [asking({ cpu: '3' })] }), [], ['cpu 3000+0>2000']],
    [aPodAsking({ cpu: '1' }, { initContainers: [asking({ cpu: '1500m' }, { restartPolicy: 'Always' })] }), [], ['cpu 2500+0>2000']],
  ];
  for (const [pod, others, expected] of rows) assert.deepEqual(lacking(pod, others), expected);
});

test('a pod that does not fit is refused in the words of the kubelet, with all that is lacking', () => {
  const node = { metadata: { name: 'n' }, status: { allocatable } };
  const priority = 2_000_000_000;
  for (const over of [{}, { priority }])
    assert.deepEqual(fitPod({ pod: aPodAsking({ cpu: '3', memory: '5Gi' }, over), otherPods: new NodeUse(), node }), {
      reason: 'OutOfcpu',
      message: "Node didn't have enough resource: cpu, requested: 3000, used: 0, capacity: 2000",
      lacking: [
        { resource: 'cpu', requested: 3000n, used: 0n, capacity: 2000n },
        { resource: 'memory', requested: 5_368_709_120n, used: 0n, capacity: 4_294_967_296n },
      ],
    });
  // Room would not help: a critical pod has no other ended for it.
  const elsewhere = (over: Partial<PodSpec>): unknown => {
    const refusal = fitPod({ pod: aPodAsking({ cpu: '3' }, { nodeName: 'other', ...over }), otherPods: new NodeUse(), node });
    return [refusal?.reason, refusal?.lacking];
  };
  assert.deepEqual(elsewhere({}), ['OutOfcpu', undefined]);
  assert.deepEqual(elsewhere({ priority }), ['NodeName', undefined]);
  assert.equal(fitPod({ pod: aPodAsking({ cpu: '3' }), otherPods: new NodeUse(), node: { metadata: { name: 'n' } } }), undefined);
});
