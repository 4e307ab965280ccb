import fc from 'fast-check';
import type { Verb } from '../../src/engines/fake/call-gate.ts';

export const names = ['x', 'y', 'z'] as const;
export type Name = (typeof names)[number];
const verbs: readonly Verb[] = [
  'listPods',
  'observePod',
  'runSandbox',
  'createContainer',
  'startContainer',
  'stopContainer',
  'removeContainer',
  'stopSandbox',
  'removeSandbox',
  'inspectImage',
  'pullImage',
];

export type Step =
  | { readonly do: 'declare'; readonly name: Name; readonly version: number; readonly marker: number }
  | { readonly do: 'remove'; readonly name: Name }
  | { readonly do: 'kill'; readonly nth: number; readonly exitCode: number }
  | { readonly do: 'restart engine'; readonly downMs: number; readonly liveRestore: boolean }
  | { readonly do: 'fault'; readonly kind: 'fail' | 'lose' | 'hang'; readonly verb: Verb; readonly times: number }
  | { readonly do: 'drop hints'; readonly drop: boolean }
  | { readonly do: 'restart agent'; readonly awayMs: number; readonly silentMs: number }
  | { readonly do: 'set the date'; readonly byMs: number }
  | { readonly do: 'wait'; readonly ms: number };

const name = fc.constantFrom(...names);
const shortMs = fc.constantFrom(0, 1, 12, 45, 100, 700, 4000);

/** What can happen to the agent, its engine and its manifests. */
export const steps: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({ do: fc.constant('wait' as const), ms: fc.constantFrom(1, 7, 20, 45, 100, 500, 1500, 5000, 15_000, 60_000) }),
  },
  { weight: 6, arbitrary: fc.record({ do: fc.constant('declare' as const), name, version: fc.nat(2), marker: fc.nat(1) }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('remove' as const), name }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('kill' as const), nth: fc.nat(9), exitCode: fc.constantFrom(1, 137) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('restart engine' as const), downMs: shortMs, liveRestore: fc.boolean() }) },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('fault' as const),
      kind: fc.constantFrom('fail' as const, 'lose' as const, 'hang' as const),
      verb: fc.constantFrom(...verbs),
      times: fc.integer({ min: 1, max: 3 }),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('set the date' as const),
      byMs: fc.constantFrom(1000, 30_000, 3_600_000, 365 * 86_400_000).chain((ms) => fc.constantFrom(ms, -ms)),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('drop hints' as const), drop: fc.boolean() }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('restart agent' as const), awayMs: shortMs, silentMs: shortMs }) },
);
