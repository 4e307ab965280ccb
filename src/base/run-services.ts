import { aborted } from './aborted.ts';
import type { Service } from './service.ts';

/** Starts phases left to right; on abort or the first failure stops them right to left, each drained before the next. */
export async function runServices(phases: readonly (readonly Service[])[], stop: AbortSignal): Promise<void> {
  const failure = new AbortController();
  const started = phases.map((phase) => {
    const controller = new AbortController();
    const run = async (service: Service): Promise<void> => {
      try {
        await service.run(controller.signal);
      } catch (error) {
        // Told to stop while still getting ready: that is no failure.
        if (controller.signal.aborted && error === controller.signal.reason) return;
        failure.abort(new Error(`service ${service.name} failed`, { cause: error }));
      }
    };
    return { controller, settled: Promise.all(phase.map(run)) };
  });
  await aborted(AbortSignal.any([stop, failure.signal]));
  for (const { controller, settled } of started.reverse()) {
    controller.abort();
    await settled;
  }
  failure.signal.throwIfAborted();
}
