import { type Container, formatPod, type Pod } from '../../../model/pod.ts';

export type SecurityContext = NonNullable<Container['securityContext']>;

/** The container's own context, over the pod's where both may say it (pkg/securitycontext DetermineEffectiveSecurityContext). */
export function effectiveSecurityContext(pod: Pick<Pod, 'spec'>, container: Container): SecurityContext {
  const { seLinuxOptions, runAsUser, runAsGroup, runAsNonRoot } = pod.spec.securityContext ?? {};
  const fromPod = { seLinuxOptions, runAsUser, runAsGroup, runAsNonRoot };
  return { ...withoutUnset(fromPod), ...withoutUnset(container.securityContext ?? {}) };
}

/** Who runs a container whose spec says nothing: a number, or a name that only the image knows. */
export type ImageUser = { readonly uid: bigint } | { readonly username: string };

/** Reads an image's `User`: the part before the colon; an empty one is root (pkg/kubelet/dockershim getUserFromImageUser). */
export function parseImageUser(user: string): ImageUser {
  const [name = ''] = user.split(':');
  if (name === '') return { uid: 0n };
  if (!/^[+-]?[0-9]+$/.test(name)) return { username: name };
  const uid = BigInt(name.replace(/^\+/, ''));
  return BigInt.asIntN(64, uid) === uid ? { uid } : { username: name };
}

/** Why a container that must not run as root would; undefined when all is well (pkg/kubelet/kuberuntime verifyRunAsNonRoot). */
export function nonRootViolation(pod: Pod, container: Container, imageUser: ImageUser): string | undefined {
  const { runAsNonRoot, runAsUser } = effectiveSecurityContext(pod, container);
  if (runAsNonRoot !== true) return undefined;
  const which = `pod: ${JSON.stringify(formatPod(pod))}, container: ${container.name}`;
  if (isSet(runAsUser)) return runAsUser === 0 ? `container's runAsUser breaks non-root policy (${which})` : undefined;
  if ('username' in imageUser) {
    return `container has runAsNonRoot and image has non-numeric user (${imageUser.username}), cannot verify user is non-root (${which})`;
  }
  return imageUser.uid === 0n ? `container has runAsNonRoot and image will run as root (${which})` : undefined;
}

// What a container must not see or write under /proc and /sys unless procMount is Unmasked (pkg/securitycontext/util.go).
export const maskedPaths: readonly string[] = [
  '/proc/acpi',
  '/proc/kcore',
  '/proc/keys',
  '/proc/latency_stats',
  '/proc/timer_list',
  '/proc/timer_stats',
  '/proc/sched_debug',
  '/proc/scsi',
  '/sys/firmware',
];
export const readonlyPaths: readonly string[] = ['/proc/asound', '/proc/bus', '/proc/fs', '/proc/irq', '/proc/sys', '/proc/sysrq-trigger'];

/** Null is nothing, as in JSON that Go wrote. */
export function isSet<T>(value: T | null | undefined): value is T {
  return value !== undefined && value !== null;
}

function withoutUnset<T extends object>(values: T): Partial<T> {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => isSet(value))) as Partial<T>;
}
