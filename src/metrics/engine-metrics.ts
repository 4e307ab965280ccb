import type { Counter } from 'prom-client';
import type { Happenings } from '../ports/happenings.ts';
import { engineOperation } from './engine-operation.ts';
import { exponentialBuckets, type MetricSet } from './metric-set.ts';

const OPERATION = ['operation_type'] as const;

/** The verbs of the runtime, and the calls of the engine that they took (pkg/kubelet/metrics/metrics.go). */
export function engineMetrics(set: MetricSet): Pick<Happenings, 'runtimeOperated' | 'engineCalled'> {
  return { runtimeOperated: runtimeOperations(set), engineCalled: engineCalls(set) };
}

function runtimeOperations(set: MetricSet): Happenings['runtimeOperated'] {
  const total = set.counter('kubelet_runtime_operations_total', 'Cumulative number of runtime operations by operation type.', OPERATION);
  const errors = set.counter(
    'kubelet_runtime_operations_errors_total',
    'Cumulative number of runtime operation errors by operation type.',
    OPERATION,
  );
  const seconds = set.histogram(
    'kubelet_runtime_operations_duration_seconds',
    'Duration in seconds of runtime operations. Broken down by operation type.',
    OPERATION,
    exponentialBuckets(0.005, 2.5, 14),
  );
  return ({ operation: operation_type, tookMs, failed }) => {
    total.inc({ operation_type });
    seconds.observe({ operation_type }, tookMs / 1000);
    if (failed) errors.inc({ operation_type });
  };
}

function engineCalls(set: MetricSet): Happenings['engineCalled'] {
  const total = set.counter('kubelet_docker_operations_total', 'Cumulative number of Docker operations by operation type.', OPERATION);
  const seconds = set.histogram(
    'kubelet_docker_operations_duration_seconds',
    'Latency in seconds of Docker operations. Broken down by operation type.',
    OPERATION,
  );
  const failures: Readonly<Record<'error' | 'timeout', Counter<'operation_type'>>> = {
    error: set.counter(
      'kubelet_docker_operations_errors_total',
      'Cumulative number of Docker operation errors by operation type.',
      OPERATION,
    ),
    timeout: set.counter(
      'kubelet_docker_operations_timeout_total',
      'Cumulative number of Docker operation timeout by operation type.',
      OPERATION,
    ),
  };
  return ({ what, tookMs, failed }) => {
    const operation_type = engineOperation(what);
    total.inc({ operation_type });
    seconds.observe({ operation_type }, tookMs / 1000);
    if (failed) failures[failed].inc({ operation_type });
  };
}
