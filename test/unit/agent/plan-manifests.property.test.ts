import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { planManifests } from '../../../src/agent/plan-manifests.ts';
import type { Container, Pod } from '../../../src/model/pod.ts';
import type { DeclaredManifests } from '../../../src/ports/declared-manifests.ts';
import { aContainer, aPod } from '../../builders/a-pod.ts';

const amounts = fc.option(
  fc.record({ cpu: fc.constantFrom('100m', '1'), memory: fc.constantFrom('64Mi', '1Gi') }, { requiredKeys: [], noNullPrototype: true }),
  { nil: undefined },
);
const aSpec = fc.record(
  {
    resources: fc.record({ limits: amounts, requests: amounts }, { noNullPrototype: true }),
    resizePolicy: fc.constantFrom(
      [{ resourceName: 'memory', restartPolicy: 'RestartContainer' }],
      [{ resourceName: 'cpu', restartPolicy: 'NotRequired' }],
    ),
    livenessProbe: fc.constant({ exec: { command: ['true'] } }),
    startupProbe: fc.constant({ exec: { command: ['true'] } }),
  },
  { requiredKeys: [], noNullPrototype: true },
) as fc.Arbitrary<Partial<Container>>;
const containers = (prefix: string): fc.Arbitrary<readonly Container[]> =>
  fc.array(aSpec, { maxLength: 3 }).map((specs) => specs.map((spec, i) => aContainer(`${prefix}${i}`, spec)));
const pods = fc
  .record(
    {
      apps: containers('app'),
      inits: fc.array(fc.tuple(aSpec, fc.boolean()), { maxLength: 3 }),
      hostNetwork: fc.boolean(),
      restartPolicy: fc.constantFrom('Always' as const, 'OnFailure' as const, 'Never' as const),
    },
    { noNullPrototype: true },
  )
  .map(({ apps, inits, ...spec }): Pod =>
    aPod('web', {
      ...spec,
      containers: [aContainer('first'), ...apps],
      initContainers: inits.map(([one, isSidecar], i) => aContainer(`init${i}`, isSidecar ? { ...one, restartPolicy: 'Always' } : one)),
    }),
  );
const declared = (...all: readonly Pod[]): DeclaredManifests => ({
  pods: new Map(all.map((pod) => ['default/web', { pod, file: 'web.yaml' }])),
  objects: new Map(),
  refused: [],
  unreadable: [],
  isWhole: true,
});

test('what already runs is to change in nothing', () => {
  fc.assert(
    fc.property(pods, (pod) => {
      const [planned] = planManifests(declared(pod), declared(structuredClone(pod))).pods;
      assert.equal(planned?.consequence, 'nothing', planned?.because.join('; '));
      assert.deepEqual(planned.changes, []);
    }),
  );
});

test('whatever differs, it is told: no change is nothing without its fields', () => {
  fc.assert(
    fc.property(pods, pods, (before, after) => {
      const [planned] = planManifests(declared(before), declared(after)).pods;
      const same = JSON.stringify(before.spec) === JSON.stringify(after.spec);
      assert.ok(same || (planned?.changes.length ?? 0) > 0);
      assert.ok(planned?.consequence !== 'recreate' || planned.because.length > 0);
    }),
  );
});
