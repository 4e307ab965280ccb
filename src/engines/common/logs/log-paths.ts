import { join } from 'node:path';
import type { Pod } from '../../../model/pod.ts';

type PodIdentity = Pick<Pod, 'metadata'>;

/** Where older log collectors look (pkg/kubelet/kuberuntime: legacyContainerLogsDir). */
export const CONTAINER_LOGS_DIR = '/var/log/containers';

/** NAMESPACE_NAME_UID, under the directory of pod logs (pkg/kubelet/kuberuntime/helpers.go). */
export function podLogDirectory(podLogsDir: string, { metadata }: PodIdentity): string {
  return join(podLogsDir, `${metadata.namespace}_${metadata.name}_${metadata.uid}`);
}

export function containerLogDirectory(podLogsDir: string, pod: PodIdentity, container: string): string {
  return join(podLogDirectory(podLogsDir, pod), container);
}

/** CONTAINER/ATTEMPT.log, under the pod's log directory. */
export function relativeLogPath(container: string, attempt: number): string {
  return join(container, `${attempt}.log`);
}

/** What kubectl logs and log collectors open; a label of the container says it too. */
export function containerLogPath(podLogsDir: string, pod: PodIdentity, container: string, attempt: number): string {
  return join(podLogDirectory(podLogsDir, pod), relativeLogPath(container, attempt));
}

/** POD_NAMESPACE_CONTAINER-ID.log, for log collectors from before there were pod log directories (kuberuntime/legacy.go). */
export function legacyLogLink(containerLogsDir: string, { metadata }: PodIdentity, container: string, id: string): string {
  const name = `${metadata.name}_${metadata.namespace}_${container}-${id}`;
  // 251 characters and ".log": longer names do not fit into every file system.
  return join(containerLogsDir, `${name.slice(0, 251)}.log`);
}
