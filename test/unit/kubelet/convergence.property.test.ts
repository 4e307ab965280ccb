import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { RandomPods } from '../../fakes/random-pods.ts';
import { steps } from '../../fakes/random-steps.ts';

test('whatever happens, the engine converges to what the manifests say, and no step on the way breaks a promise', async () => {
  await fc.assert(
    fc.asyncProperty(fc.nat(10), fc.array(steps, { minLength: 1, maxLength: 40, size: 'max' }), async (shift, story) => {
      const world = new RandomPods(shift);
      for (const step of story) {
        await world.take(step);
        assert.deepEqual(world.broken, []);
      }
      await world.heal();
      assert.deepEqual(world.broken, []);
      assert.deepEqual(world.faults(), []);
      await world.close();
      assert.equal(world.clock.actions.length, 0, 'timers are left');
    }),
    { numRuns: Number(process.env['RUNS'] ?? 250) },
  );
});
