import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { silentLogger } from '../../../../src/base/logger.ts';
import { fakeEngine } from '../../../../src/engines/fake/fake-engine.ts';
import type { PodUid } from '../../../../src/model/pod.ts';
import { podLifecycleEvents } from '../../../../src/agent/pleg/pod-lifecycle-events.ts';
import { aPod } from '../../../builders/a-pod.ts';
import { FakeClock } from '../../../fakes/fake-clock.ts';

const never = new AbortController().signal;

type Step =
  | { readonly do: 'run' | 'kill' | 'remove'; readonly pod: number }
  | { readonly do: 'drop hints' | 'pass hints' | 'fail listings' | 'hang a listing' | 'restart' }
  | { readonly do: 'wait'; readonly ms: number };

const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ do: fc.constantFrom('run' as const, 'kill' as const, 'remove' as const), pod: fc.nat(1) }),
  fc.record({
    do: fc.constantFrom(
      'drop hints' as const,
      'pass hints' as const,
      'fail listings' as const,
      'hang a listing' as const,
      'restart' as const,
    ),
  }),
  fc.record({ do: fc.constant('wait' as const), ms: fc.oneof(fc.nat(100), fc.nat(15_000)) }),
);

test('whatever hints are lost and calls fail, every pod is woken after its last change', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 25 }), async (steps) => {
      const clock = new FakeClock();
      const { runtime, controls } = fakeEngine({ clock, log: silentLogger, latencyMs: 7 });
      const pleg = podLifecycleEvents({ runtime, clock, log: silentLogger, tell: { relisted: () => {} } });
      const changedAtMs = new Map<PodUid, number>();
      const wokenAtMs = new Map<PodUid, number>();
      const subscription = controls.changes.subscribe(({ part }) => changedAtMs.set(part.uid, clock.now()));
      subscription.add(pleg.changes.subscribe(({ uid }) => wokenAtMs.set(uid, clock.now())));
      await clock.advance(100);
      for (const each of steps) {
        const sandbox = 'pod' in each ? controls.world().find(({ podName }) => podName === `p${each.pod}`) : undefined;
        switch (each.do) {
          case 'run':
            void runtime.runSandbox(aPod(`p${each.pod}`), { attempt: 0, hostname: 'h' }, never).catch(() => {});
            break;
          case 'kill':
            if (sandbox?.state.phase === 'running') controls.kill(sandbox.id);
            break;
          case 'remove':
            if (sandbox) void runtime.removeSandbox(sandbox.id as Parameters<typeof runtime.removeSandbox>[0], never).catch(() => {});
            break;
          case 'drop hints':
          case 'pass hints':
            controls.dropHints(each.do === 'drop hints');
            break;
          case 'fail listings':
            controls.fail('listPods', undefined, 3);
            break;
          case 'hang a listing':
            controls.hang('listPods');
            break;
          case 'restart':
            controls.restart({ downMs: 2_000 });
            break;
          case 'wait':
            await clock.advance(each.ms);
            break;
          default:
            each satisfies never;
        }
      }
      controls.heal();
      // A hanging listing ends by its deadline of two minutes; then one retry or relist sees all.
      await clock.advance(140_000);
      const present = new Set(controls.world().map(({ uid }) => uid));
      for (const [uid, atMs] of changedAtMs) {
        // A pod that came and went untold between two listings has left nothing to look at.
        if (!present.has(uid) && wokenAtMs.get(uid) === undefined) continue;
        assert.ok((wokenAtMs.get(uid) ?? -1) >= atMs, `${uid} changed at ${atMs} and was last woken at ${wokenAtMs.get(uid)}`);
      }
      subscription.unsubscribe();
      controls.close();
      await clock.advance(0);
      assert.equal(clock.actions.length, 0, 'a timer is left');
    }),
    { numRuns: 400 },
  );
});
