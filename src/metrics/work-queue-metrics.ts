import type { WorkQueueObserver } from '../ports/observers.ts';
import { exponentialBuckets, type MetricSet } from './metric-set.ts';

const buckets = exponentialBuckets(10e-9, 10, 10);

/** The workqueue_ metrics of client-go (component-base/metrics/prometheus/workqueue), for any number of queues. `nowMs` may start anywhere. */
export function workQueueMetrics(set: MetricSet, nowMs: () => number): <K>(name: string) => WorkQueueObserver<K> {
  const labels = ['name'] as const;
  const running: { readonly name: string; readonly startedAtMs: ReadonlyMap<unknown, number> }[] = [];
  const depth = set.gauge('workqueue_depth', 'Current depth of workqueue', labels);
  const adds = set.counter('workqueue_adds_total', 'Total number of adds handled by workqueue', labels);
  const waited = set.histogram(
    'workqueue_queue_duration_seconds',
    'How long in seconds an item stays in workqueue before being requested.',
    labels,
    buckets,
  );
  const worked = set.histogram(
    'workqueue_work_duration_seconds',
    'How long in seconds processing an item from workqueue takes.',
    labels,
    buckets,
  );
  const retries = set.counter('workqueue_retries_total', 'Total number of retries handled by workqueue', labels);
  const secondsRunning = (startedAtMs: ReadonlyMap<unknown, number>): number[] =>
    Array.from(startedAtMs.values(), (atMs) => (nowMs() - atMs) / 1000);
  set.gauge(
    'workqueue_unfinished_work_seconds',
    "How many seconds of work has done that is in progress and hasn't been observed by work_duration. Large values indicate stuck threads. One can deduce the number of stuck threads by observing the rate at which this increases.",
    labels,
    (gauge) => {
      for (const { name, startedAtMs } of running)
        gauge.set(
          { name },
          secondsRunning(startedAtMs).reduce((a, b) => a + b, 0),
        );
    },
  );
  set.gauge(
    'workqueue_longest_running_processor_seconds',
    'How many seconds has the longest running processor for workqueue been running.',
    labels,
    (gauge) => {
      for (const { name, startedAtMs } of running) gauge.set({ name }, Math.max(0, ...secondsRunning(startedAtMs)));
    },
  );

  return <K>(name: string): WorkQueueObserver<K> => {
    const readyAtMs = new Map<K, number>();
    const startedAtMs = new Map<K, number>();
    running.push({ name, startedAtMs });
    depth.set({ name }, 0);
    adds.inc({ name }, 0);
    retries.inc({ name }, 0);
    return {
      ready: (key) => {
        adds.inc({ name });
        readyAtMs.set(key, nowMs());
        depth.set({ name }, readyAtMs.size);
      },
      started: (key) => {
        waited.observe({ name }, (nowMs() - (readyAtMs.get(key) ?? nowMs())) / 1000);
        readyAtMs.delete(key);
        depth.set({ name }, readyAtMs.size);
        startedAtMs.set(key, nowMs());
      },
      ended: (key) => {
        worked.observe({ name }, (nowMs() - (startedAtMs.get(key) ?? nowMs())) / 1000);
        startedAtMs.delete(key);
      },
      retried: () => retries.inc({ name }),
    };
  };
}
