import type { Pod } from '../../model/pod.ts';
import type { ObservedPod, SandboxId } from '../../ports/container-runtime.ts';

export interface SandboxNeed {
  /** Why a new sandbox is needed; undefined: the newest one serves. */
  readonly because: string | undefined;
  /** The attempt of the sandbox to use. */
  readonly attempt: number;
  /** The sandbox to use or to replace. Undefined where there is none, or where its network is not the pod's. */
  readonly id: SandboxId | undefined;
}

/** Whether the pod's newest sandbox can hold its containers (podSandboxChanged in pkg/kubelet/kuberuntime). */
export function sandboxChanged(pod: Pod, { sandboxes }: ObservedPod): SandboxNeed {
  const newest = sandboxes[0];
  if (newest === undefined) return { because: 'there is no sandbox yet: a first one', attempt: 0, id: undefined };
  const { id, attempt } = newest;
  const recreate = (why: string, id: SandboxId | undefined): SandboxNeed => ({
    because: `${why}: a new one, attempt ${attempt + 1}`,
    attempt: attempt + 1,
    id,
  });
  const ready = sandboxes.filter((sandbox) => sandbox.ready).length;
  if (ready > 1) return recreate(`${ready} sandboxes are ready at once`, id);
  if (!newest.ready) return recreate('the sandbox is gone', id);
  const network = pod.spec.hostNetwork ? 'node' : 'pod';
  if (newest.network !== network) return recreate(`the sandbox has the ${newest.network}'s network, not the ${network}'s`, undefined);
  if (network === 'pod' && newest.ips.length === 0) return recreate('the sandbox has no IP address', id);
  return { because: undefined, attempt, id };
}
