import { type GrpcCode, grpcCodes } from '../base/grpc/grpc-status.ts';
import type { Happenings } from '../ports/happenings.ts';
import { boundedNames } from './bounded-names.ts';
import { exponentialBucketsRange, type MetricSet } from './metric-set.ts';
import { storageBuckets } from './storage-metrics.ts';

/** Drivers of ResourceClaims (pkg/kubelet/metrics/metrics.go) and of volumes (pkg/volume/util/metrics.go). */
export function driverMetrics(set: MetricSet): Pick<Happenings, 'claimsHandled' | 'draDriverCalled' | 'csiDriverCalled'> {
  // A call takes 45 s at most.
  const buckets = exponentialBucketsRange(0.1, 40, 15);
  const operations = set.histogram(
    'dra_operations_duration_seconds',
    'Latency histogram in seconds for the duration of handling all ResourceClaims referenced by a pod when the pod starts or stops. Broken down by the name of the operation (PrepareResources or UnprepareResources) and by whether it failed.',
    ['operation_name', 'is_error'],
    buckets,
  );
  const calls = set.histogram(
    'dra_grpc_operations_duration_seconds',
    'Duration in seconds of the DRA gRPC operations',
    ['driver_name', 'method_name', 'grpc_status_code'],
    buckets,
  );
  const storageCalls = set.histogram(
    'csi_operations_seconds',
    'Container Storage Interface operation duration with gRPC error code status total',
    ['driver_name', 'method_name', 'grpc_status_code', 'migrated'],
    storageBuckets,
  );
  const nameOf = boundedNames();
  const storageNameOf = boundedNames();
  return {
    claimsHandled: ({ operation, tookMs, failed }) =>
      operations.observe({ operation_name: operation, is_error: String(failed) }, tookMs / 1000),
    draDriverCalled: ({ driver, method, code, tookMs }) =>
      calls.observe({ driver_name: nameOf(driver), method_name: method, grpc_status_code: knownCode(code) }, tookMs / 1000),
    csiDriverCalled: ({ driver, method, code, tookMs, isMigrated }) =>
      storageCalls.observe(
        {
          driver_name: storageNameOf(driver),
          method_name: method,
          grpc_status_code: knownCode(code),
          migrated: String(isMigrated),
        },
        tookMs / 1000,
      ),
  };
}

const known: readonly string[] = grpcCodes;

/** A driver can answer with any number: all that gRPC does not have are one. */
const knownCode = (code: GrpcCode): string => (known.includes(code) ? code : 'Unknown');
