import type { Pod, PodUid } from '../../../src/model/pod.ts';
import { shouldRestartContainer } from '../../../src/model/should-restart-container.ts';

interface In {
  readonly restartPolicy?: string;
  readonly deleting?: boolean;
  readonly statuses?: readonly { readonly name: string; readonly state: string; readonly exitCode?: number }[];
}

export const run = ({ restartPolicy = '', deleting, statuses }: In): unknown => {
  const deletion = deleting ? { deletionTimestamp: '2021-02-03T04:05:06Z' } : {};
  const pod: Pod = { metadata: { name: 'p', namespace: 'ns', uid: 'u' as PodUid, ...deletion }, spec: { containers: [], restartPolicy } };
  const container = { name: 'c' };
  const newest = statuses?.find(({ name }) => name === 'c');
  if (newest === undefined) return shouldRestartContainer(pod, container, undefined);
  const { state, exitCode = 0 } = newest;
  if (state === 'created' || state === 'running' || state === 'unknown') return shouldRestartContainer(pod, container, { phase: state });
  // Any other state is judged as exited.
  return shouldRestartContainer(pod, container, { phase: 'exited', exitCode });
};
