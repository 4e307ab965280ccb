import type { ThreadPoolWatch } from '../base/thread-pool-watch.ts';
import { formatTime } from '../model/time.ts';
import type { PodLifecycleEvents } from '../ports/pod-lifecycle-events.ts';
import type { HostFiles } from '../ports/host-files.ts';
import type { HealthCheck } from '../ports/node-participant.ts';

export interface HealthChecksDeps {
  readonly pleg: Pick<PodLifecycleEvents, 'health'>;
  readonly threadPool: Pick<ThreadPoolWatch, 'fault'>;
  readonly hostFiles: Pick<HostFiles, 'silent'>;
}

/** What /healthz looks at. It fails for what a new start of the agent may mend; a volume that does not answer is only reported: no start brings it back. */
export function healthChecks({ pleg, threadPool, hostFiles }: HealthChecksDeps): readonly HealthCheck[] {
  const { healthy, message } = pleg.health();
  return [
    healthy ? { name: 'syncloop' } : { name: 'syncloop', error: message },
    failing('thread-pool', threadPool.fault()),
    fileSystems(hostFiles),
  ];
}

const failing = (name: string, error: string | undefined): HealthCheck => (error === undefined ? { name } : { name, error });

function fileSystems(hostFiles: Pick<HostFiles, 'silent'>): HealthCheck {
  const name = 'file-systems';
  const silent = hostFiles.silent();
  if (silent.length === 0) return { name };
  const list = silent.map(({ path, sinceMs }) => `${path} since ${formatTime(sinceMs)}`).join(', ');
  return { name, note: `${silent.length === 1 ? '1 does' : `${silent.length} do`} not answer: ${list}` };
}
