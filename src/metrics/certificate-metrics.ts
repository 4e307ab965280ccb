import type { CertificateUse, Happenings } from '../ports/happenings.ts';
import type { MetricSet } from './metric-set.ts';

/** Minute, hour, 4 hours, day, week, 1, 3, 6 months, 1 and 4 years. */
const ages = [60, 3600, 14_400, 86_400, 604_800, 2_592_000, 7_776_000, 15_552_000, 31_104_000, 124_416_000];

/** pkg/kubelet/certificate/kubelet.go; the name of the server's error counter is as it is there. */
export function certificateMetrics(
  set: MetricSet,
  nowMs: () => number,
): Pick<Happenings, 'certificateInUse' | 'certificateRenewed' | 'certificateRenewFailed'> {
  const help = 'Counter of certificate renewal errors.';
  const failures = {
    client: set.counter('kubelet_certificate_manager_client_expiration_renew_errors', help),
    server: set.counter('kubelet_server_expiration_renew_errors', help),
  };
  const rotationAge = set.histogram(
    'kubelet_certificate_manager_server_rotation_seconds',
    'Histogram of the number of seconds the previous certificate lived before being rotated.',
    [],
    ages,
  );
  const endsAtMs = new Map<CertificateUse, number>();
  for (const [which, whose] of [
    ['client', 'client'],
    ['server', 'serving'],
  ] as const) {
    set.gauge(
      `kubelet_certificate_manager_${which}_ttl_seconds`,
      `Gauge of the shortest TTL (time-to-live) of the Kubelet's ${whose} certificate. The value is in seconds until certificate expiry (negative if already expired). If ${whose} certificate is invalid or unused, the value will be +INF.`,
      [],
      (gauge) => gauge.set(Math.floor(((endsAtMs.get(which) ?? Number.POSITIVE_INFINITY) - nowMs()) / 1000)),
    );
  }
  return {
    certificateInUse: ({ use, expiresAtMs }) => void endsAtMs.set(use, expiresAtMs),
    certificateRenewed: ({ use, ageMs }) => {
      if (use === 'server') rotationAge.observe(ageMs / 1000);
    },
    certificateRenewFailed: ({ use }) => failures[use].inc(),
  };
}
