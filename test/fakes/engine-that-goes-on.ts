import { unlessAborted } from '../../src/base/unless-aborted.ts';
import type { FakeEngine } from '../../src/engines/fake/fake-engine.ts';

const never = new AbortController().signal;

/** The engine as an agent that is killed leaves it: what was asked of it goes on, though nobody hears the answer. */
export function engineThatGoesOn(engine: FakeEngine): FakeEngine {
  const { runtime } = engine;
  return {
    ...engine,
    runtime: {
      hints: runtime.hints,
      info: (signal) => runtime.info(signal),
      listPods: (signal) => runtime.listPods(signal),
      observePod: (uid, signal) => runtime.observePod(uid, signal),
      runSandbox: (pod, spec, signal, onCreated) =>
        unlessAborted(
          runtime.runSandbox(pod, spec, never, (id) => {
            if (!signal.aborted) onCreated?.(id);
          }),
          signal,
        ),
      createContainer: async (pod, sandbox, spec, signal) => {
        const created = await unlessAborted(runtime.createContainer(pod, sandbox, spec, never), signal);
        return { start: (now, startSignal) => unlessAborted(created.start(now, never), startSignal) };
      },
      startContainer: (pod, sandbox, spec, signal) => unlessAborted(runtime.startContainer(pod, sandbox, spec, never), signal),
      updateContainer: (id, pod, container, resource, signal) =>
        unlessAborted(runtime.updateContainer(id, pod, container, resource, never), signal),
      stopContainer: (id, graceMs, signal) => runtime.stopContainer(id, graceMs, signal),
      removeContainer: (id, signal) => runtime.removeContainer(id, signal),
      stopSandbox: (id, signal) => runtime.stopSandbox(id, signal),
      removeSandbox: (id, signal) => runtime.removeSandbox(id, signal),
    },
  };
}
