import assert from 'node:assert/strict';
import { test } from 'node:test';
import { NodeUse } from '../../../src/model/node-use.ts';
import { fitPod } from '../../../src/model/fit-pod.ts';
import { rejectPod } from '../../../src/model/pod-admission.ts';
import type { Pod, PodSpec } from '../../../src/model/pod.ts';
import { aContainer, aPod } from '../../builders/a-pod.ts';

const node = { metadata: { name: 'node-1', labels: { disk: 'ssd', cores: '8' } } };
const why = (spec: Partial<PodSpec>, otherPods: readonly Pod[] = []): string | undefined =>
  fitPod({ pod: aPod('p', spec), otherPods: new NodeUse(otherPods), node })?.reason;

type Terms = NonNullable<
  NonNullable<
    NonNullable<NonNullable<PodSpec['affinity']>['nodeAffinity']>['requiredDuringSchedulingIgnoredDuringExecution']
  >['nodeSelectorTerms']
>;
const affinity = (...nodeSelectorTerms: Terms): Partial<PodSpec> => ({
  affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms } } },
});
const onPort = (hostPort: number, hostIP?: string, protocol?: string): Partial<PodSpec> => ({
  containers: [aContainer('c', { ports: [{ containerPort: 80, hostPort, ...(hostIP && { hostIP }), ...(protocol && { protocol }) }] })],
});

test('a pod that asks for nothing special is admitted', () => assert.equal(why({}), undefined));

test('every label of the node selector must be there', () => {
  assert.equal(why({ nodeSelector: { disk: 'ssd' } }), undefined);
  assert.equal(why({ nodeSelector: { disk: 'ssd', zone: 'a' } }), 'NodeAffinity');
});

test('one term of the required affinity must match, with all of its requirements', () => {
  const has = (key: string) => ({ matchExpressions: [{ key, operator: 'Exists' }] });
  assert.equal(why(affinity(has('disk'))), undefined);
  assert.equal(why(affinity(has('gpu'), has('disk'))), undefined);
  assert.equal(why(affinity(has('gpu'))), 'NodeAffinity');
  assert.equal(why(affinity({ matchExpressions: [...has('disk').matchExpressions, ...has('gpu').matchExpressions] })), 'NodeAffinity');
  assert.equal(why(affinity()), 'NodeAffinity');
  assert.equal(why(affinity({})), 'NodeAffinity');
  assert.equal(why(affinity({ matchExpressions: [{ key: 'cores', operator: 'Gt', values: ['4'] }] })), undefined);
  assert.equal(why(affinity({ matchExpressions: [{ key: 'cores', operator: 'Odd', values: ['4'] }] })), 'NodeAffinity');
  assert.equal(why(affinity({ matchFields: [{ key: 'metadata.name', operator: 'In', values: ['node-1'] }] })), undefined);
  assert.equal(why(affinity({ matchFields: [{ key: 'metadata.name', operator: 'NotIn', values: ['node-1'] }] })), 'NodeAffinity');
});

test('a pod of another node is refused', () => assert.equal(why({ nodeName: 'node-2' }), 'NodeName'));

test('a host port is had once an address and protocol; 0.0.0.0 is every address', () => {
  const rows = [
    [onPort(80), onPort(80), 'NodePorts'],
    [onPort(80), onPort(81), undefined],
    [onPort(80), onPort(80, undefined, 'UDP'), undefined],
    [onPort(80, '10.0.0.1'), onPort(80, '10.0.0.2'), undefined],
    [onPort(80, '10.0.0.1'), onPort(80), 'NodePorts'],
    [onPort(80), onPort(80, '10.0.0.1'), 'NodePorts'],
    [{ initContainers: [{ ...onPort(80).containers?.[0], name: 's', restartPolicy: 'Always' }] }, onPort(80), 'NodePorts'],
    [{ initContainers: [{ ...onPort(80).containers?.[0], name: 's' }] }, onPort(80), undefined],
  ] as const;
  for (const [spec, other, reason] of rows) assert.equal(why(spec, [aPod('other', other)]), reason);
});

test('a pod of another system, or that asks for what the node cannot do, is refused before all else', () => {
  const of = (spec: Partial<PodSpec>, metadata: Partial<Pod['metadata']> = {}, features = {}): string | undefined =>
    fitPod({ pod: aPod('p', { nodeName: 'x', ...spec }, metadata), otherPods: new NodeUse(), node: { ...node, status: { features } } })
      ?.reason;
  assert.equal(of({}, { labels: { 'kubernetes.io/os': 'windows' } }), 'PodOSSelectorNodeLabelDoesNotMatch');
  assert.equal(of({ os: { name: 'windows' } }), 'PodOSNotSupported');
  const strict: Partial<PodSpec> = { securityContext: { supplementalGroupsPolicy: 'Strict' } };
  assert.equal(of(strict), 'SupplementalGroupsPolicyNotSupported');
  assert.equal(of(strict, {}, { supplementalGroupsPolicy: true }), 'NodeName');
  assert.equal(of({ os: { name: 'linux' } }, { labels: { 'kubernetes.io/os': 'linux' } }), 'NodeName');
});

test('a pod of the API does not begin on a node that would drive it out at once; a static pod does', () => {
  const tainted = (effect: string): typeof node & { spec: object } => ({ ...node, spec: { taints: [{ key: 'k', value: 'v', effect }] } });
  const of = (pod: Pod, effect = 'NoExecute'): string | undefined =>
    fitPod({ pod, otherPods: new NodeUse(), node: tainted(effect) })?.reason;
  assert.equal(of(aPod('p')), 'TaintToleration');
  assert.equal(of(aPod('p'), 'NoSchedule'), undefined);
  assert.equal(of(aPod('p', { tolerations: [{ key: 'k', operator: 'Exists' }] })), undefined);
  assert.equal(of(aPod('p', {}, { annotations: { 'kubernetes.io/config.source': 'file' } })), undefined);
});

test('without a Node nothing can be said', () => {
  assert.equal(fitPod({ pod: aPod('p'), otherPods: new NodeUse(), node: undefined })?.reason, 'InvalidNodeInfo');
});

test('a refused pod says of which generation that is', () => {
  const refusal = { reason: 'OutOfcpu', message: 'no' } as const;
  assert.equal(rejectPod(aPod('web', {}, { generation: 2 }), refusal).observedGeneration, 2);
  assert.ok(!('observedGeneration' in rejectPod(aPod('web'), refusal)));
});
