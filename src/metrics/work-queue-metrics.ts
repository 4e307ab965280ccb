import type { Happenings } from '../ports/happenings.ts';
import { exponentialBuckets, type MetricSet } from './metric-set.ts';

const buckets = exponentialBuckets(10e-9, 10, 10);

/** Since when each key of a queue waits or runs. */
interface QueueTimes {
  readonly readyAtMs: Map<string, number>;
  readonly startedAtMs: Map<string, number>;
}

/** The workqueue_ metrics of client-go (component-base/metrics/prometheus/workqueue), for any number of queues. `nowMs` may start anywhere. */
export function workQueueMetrics(
  set: MetricSet,
  nowMs: () => number,
): Pick<Happenings, 'keyReady' | 'keyStarted' | 'keyEnded' | 'keyRetried'> {
  const labels = ['name'] as const;
  const queues = new Map<string, QueueTimes>();
  set.gauge('workqueue_depth', 'Current depth of workqueue', labels, (gauge) => {
    for (const [name, { readyAtMs }] of queues) gauge.set({ name }, readyAtMs.size);
  });
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
  const secondsRunning = ({ startedAtMs }: QueueTimes): number[] => Array.from(startedAtMs.values(), (atMs) => (nowMs() - atMs) / 1000);
  set.gauge(
    'workqueue_unfinished_work_seconds',
    "How many seconds of work has done that is in progress and hasn't been observed by work_duration. Large values indicate stuck threads. One can deduce the number of stuck threads by observing the rate at which this increases.",
    labels,
    (gauge) => {
      for (const [name, times] of queues)
        gauge.set(
          { name },
          secondsRunning(times).reduce((a, b) => a + b, 0),
        );
    },
  );
  set.gauge(
    'workqueue_longest_running_processor_seconds',
    'How many seconds has the longest running processor for workqueue been running.',
    labels,
    (gauge) => {
      for (const [name, times] of queues) gauge.set({ name }, Math.max(0, ...secondsRunning(times)));
    },
  );

  const timesOf = (name: string): QueueTimes => {
    const known = queues.get(name);
    if (known) return known;
    const times: QueueTimes = { readyAtMs: new Map(), startedAtMs: new Map() };
    queues.set(name, times);
    retries.inc({ name }, 0);
    return times;
  };
  return {
    keyReady: ({ queue: name, key }) => {
      const { readyAtMs } = timesOf(name);
      adds.inc({ name });
      readyAtMs.set(key, nowMs());
    },
    keyStarted: ({ queue: name, key }) => {
      const { readyAtMs, startedAtMs } = timesOf(name);
      waited.observe({ name }, (nowMs() - (readyAtMs.get(key) ?? nowMs())) / 1000);
      readyAtMs.delete(key);
      startedAtMs.set(key, nowMs());
    },
    keyEnded: ({ queue: name, key }) => {
      const { startedAtMs } = timesOf(name);
      worked.observe({ name }, (nowMs() - (startedAtMs.get(key) ?? nowMs())) / 1000);
      startedAtMs.delete(key);
    },
    keyRetried: ({ queue: name }) => retries.inc({ name }),
  };
}
