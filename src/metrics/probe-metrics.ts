import type { PodUid } from '../model/pod.ts';
import type { Happenings, ProbeExecuted } from '../ports/happenings.ts';
import type { MetricSet } from './metric-set.ts';

const names = ['probe_type', 'result', 'container', 'pod', 'namespace', 'pod_uid'] as const;
type Labels = Readonly<Record<(typeof names)[number], string>>;
const durationNames = ['probe_type', 'container', 'pod', 'namespace'] as const;

const titles: Readonly<Record<ProbeExecuted['kind'], string>> = { liveness: 'Liveness', readiness: 'Readiness', startup: 'Startup' };

/** What probes found (pkg/kubelet/prober), until their pod has ended. */
export function probeMetrics(set: MetricSet): Pick<Happenings, 'probeExecuted' | 'podEnded'> {
  const total = set.counter(
    'prober_probe_total',
    'Cumulative number of a liveness, readiness or startup probe for a container by result.',
    names,
  );
  const seconds = set.histogram('prober_probe_duration_seconds', 'Duration in seconds for a probe response.', durationNames);
  const series = new Map<PodUid, Map<string, Labels>>();
  return {
    probeExecuted: ({ kind, result, container, tookMs, pod: { metadata } }) => {
      const { name: pod, namespace, uid } = metadata;
      const labels: Labels = { probe_type: titles[kind], result, container, pod, namespace, pod_uid: uid };
      total.inc(labels);
      // As a kubelet does: what has failed has mostly reached its timeout.
      if (result !== 'failed') seconds.observe(durationOf(labels), tookMs / 1000);
      const ofPod = series.get(uid) ?? new Map<string, Labels>();
      ofPod.set(`${kind}/${result}/${container}`, labels);
      series.set(uid, ofPod);
    },
    podEnded: ({ uid }) => {
      for (const labels of series.get(uid)?.values() ?? []) {
        total.remove(labels);
        seconds.remove(durationOf(labels));
      }
      series.delete(uid);
    },
  };
}

const durationOf = ({ probe_type, container, pod, namespace }: Labels): Pick<Labels, (typeof durationNames)[number]> => ({
  probe_type,
  container,
  pod,
  namespace,
});
