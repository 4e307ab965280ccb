import { appArmorProfile } from '../../../model/app-armor.ts';
import type { Container, Pod } from '../../../model/pod.ts';
import { type ImageUser, isSet, type SecurityContext } from '../../common/containers/security-context.ts';

/** Docker's `User`: "UID", "NAME" or "UID:GID". With a group the user is in no other that the image has him in. */
export function dockerUser({ runAsUser, runAsGroup }: SecurityContext, imageUser: ImageUser, primaryGroup?: number): string {
  const user = isSet(runAsUser) ? String(runAsUser) : 'uid' in imageUser ? String(imageUser.uid) : imageUser.username;
  const group = isSet(runAsGroup) ? runAsGroup : primaryGroup;
  return group === undefined ? user : `${user}:${group}`;
}

/** The parts of docker's SecurityOpt for SELinux, in docker's own syntax (pkg/kubelet/dockershim/selinux_util.go). */
export function selinuxOpts(options: SecurityContext['seLinuxOptions']): string[] {
  const parts = [
    ['user', options?.user],
    ['role', options?.role],
    ['type', options?.type],
    ['level', options?.level],
  ] as const;
  return parts.flatMap(([key, value]) => (value ? [`label=${key}:${value}`] : []));
}

/** Docker's option for the profile that the container asks for; the engine's default needs none. */
export function apparmorOpts(pod: Pod, container: Container): string[] {
  const { profile } = appArmorProfile(pod, container);
  if (profile === '' || profile === 'runtime/default') return [];
  return [`apparmor=${profile.replace(/^localhost\//, '')}`];
}
