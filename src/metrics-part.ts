import type { Clock } from './base/clock.ts';
import { version } from './base/version.ts';
import type { EnginePart } from './engine-part.ts';
import type { KubeletMetrics } from './metrics/kubelet-metrics.ts';
import type { PodUid } from './model/pod.ts';
import type { Trace } from './ports/pod-plan.ts';
import { probeTitles } from './probes/probe-kind.ts';
import type { ProbeExecution } from './probes/probe-worker.ts';

export interface MetricsPart {
  readonly kubelet: KubeletMetrics;
  /** Counts what reconciles do, and passes it on. */
  readonly trace: (trace: Trace) => Trace;
  /** Counts what is asked of it. */
  readonly engine: (engine: EnginePart) => EnginePart;
  readonly probed: (execution: ProbeExecution) => void;
  /** The pod has ended: its probes are no longer told of. */
  readonly probesForgotten: (uid: PodUid) => void;
}

export interface MetricsPartDeps {
  readonly clock: Clock;
  readonly nodeName: string;
}

/** Everything that is counted here; the library comes with it. */
export async function metricsPart({ clock, nodeName }: MetricsPartDeps): Promise<MetricsPart> {
  const [{ kubeletMetrics }, { countedTrace }, { observedImages, observedRuntime }] = await Promise.all([
    import('./metrics/kubelet-metrics.ts'),
    import('./metrics/trace-metrics.ts'),
    import('./metrics/runtime-operations.ts'),
  ]);
  const kubelet = kubeletMetrics({ clock, nodeName, version: version() });
  return {
    kubelet,
    trace: (trace) => countedTrace(trace, kubelet),
    engine: (engine) => ({
      ...engine,
      runtime: observedRuntime(engine.runtime, clock, kubelet.runtimeOperation),
      imageService: observedImages(engine.imageService, clock, kubelet.runtimeOperation),
    }),
    probed: ({ kind, result, container, pod: { metadata } }) => {
      const { name: pod, namespace, uid } = metadata;
      kubelet.probed({ type: probeTitles[kind], result, container, pod, namespace, uid });
    },
    probesForgotten: (uid) => kubelet.podForgotten(uid),
  };
}
