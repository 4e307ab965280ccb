import type { Container, Pod, PodUid } from '../../../src/model/pod.ts';
import type { ContainerId, ObservedContainer } from '../../../src/ports/container-runtime.ts';
import { RestartBackoff } from '../../../src/agent/reconcile/restart-backoff.ts';

interface Step {
  readonly atSec: number;
  readonly container?: string;
  readonly exits: readonly number[];
  readonly image?: string;
  readonly memory?: string;
  readonly gc?: boolean;
}

const pod: Pod = { metadata: { name: 'p', namespace: 'ns', uid: 'u' as PodUid }, spec: { containers: [] } };

export function run({ maxSec, steps }: { readonly maxSec: number; readonly steps: readonly Step[] }): unknown {
  let nowMs = 0;
  const backoff = new RestartBackoff({ now: () => nowMs, monotonicMs: () => nowMs }, { firstMs: 10_000, maxMs: maxSec * 1000 });
  return steps.map(({ atSec, container: name = '', exits, image = 'img', memory, gc }) => {
    nowMs = atSec * 1000;
    if (gc) {
      backoff.gc(pod.metadata.uid);
      return {};
    }
    const container: Container = { name, image, ...(memory && { resources: { requests: { memory } } }) };
    const containers = exits.map((finishedAtSec, index): ObservedContainer => ({
      id: `${name}-${finishedAtSec}-${index}` as ContainerId,
      name,
      image,
      imageId: '',
      specHash: '',
      attempt: 0,
      createdAtMs: 0,
      state: { phase: 'exited', startedAtMs: undefined, finishedAtMs: finishedAtSec * 1000, exitCode: 1, reason: '', message: '' },
    }));
    const at = { uid: pod.metadata.uid, containers };
    backoff.seen(at);
    const hold = backoff.hold(pod, container, at);
    if (hold === undefined) backoff.started(pod, container, at);
    const currentSec = backoff.delayMs(pod, container) / 1000;
    if (hold === undefined) return { backOff: false, currentSec };
    return { backOff: true, currentSec, message: backoff.message(pod, container), untilSec: hold.notBeforeMs / 1000 };
  });
}
