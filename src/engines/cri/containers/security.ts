import type { MessageInitShape } from '@bufbuild/protobuf';
import { appArmorProfile } from '../../../model/app-armor.ts';
import type { Container, Pod } from '../../../model/pod.ts';
import type { IdRange } from '../../../model/user-namespace.ts';
import type { ContainerSpec } from '../../../ports/container-runtime.ts';
import { seccompProfile } from '../../common/containers/seccomp-profile.ts';
import { effectiveSecurityContext, type ImageUser, isSet, maskedPaths, readonlyPaths } from '../../common/containers/security-context.ts';
import {
  type LinuxContainerSecurityContextSchema,
  NamespaceMode,
  type NamespaceOptionSchema,
  type SecurityProfileSchema,
  SecurityProfile_ProfileType as ProfileType,
  SupplementalGroupsPolicy,
} from '../api/runtime_pb.js';
import { userNamespace } from './user-namespace.ts';

type Profile = MessageInitShape<typeof SecurityProfileSchema>;
type Namespaces = MessageInitShape<typeof NamespaceOptionSchema>;

/**
 * A pod's namespaces (namespacesForPod in pkg/kubelet/kuberuntime/util). `target`: whose processes a container sees besides its own; `ids`: those that
 * the pod has for itself.
 */
export function namespaces({ spec }: Pick<Pod, 'spec'>, target?: string, ids?: IdRange): Namespaces {
  const { hostNetwork, hostIPC, hostPID, shareProcessNamespace } = spec;
  const pid = hostPID ? NamespaceMode.NODE : shareProcessNamespace ? NamespaceMode.POD : NamespaceMode.CONTAINER;
  return {
    network: hostNetwork ? NamespaceMode.NODE : NamespaceMode.POD,
    ipc: hostIPC ? NamespaceMode.NODE : NamespaceMode.POD,
    pid: target === undefined ? pid : NamespaceMode.TARGET,
    targetId: target ?? '',
    ...(ids && { usernsOptions: userNamespace(ids) }),
  };
}

/** fsGroup first, then the pod's own groups, then those of volumes. */
export function groups({ spec }: Pick<Pod, 'spec'>, ofMounts: readonly number[] = []): bigint[] {
  const { fsGroup, supplementalGroups } = spec.securityContext ?? {};
  return [...(isSet(fsGroup) ? [fsGroup] : []), ...(supplementalGroups ?? []), ...ofMounts].map(BigInt);
}

export const groupsPolicy = ({ spec }: Pick<Pod, 'spec'>): SupplementalGroupsPolicy =>
  spec.securityContext?.supplementalGroupsPolicy === 'Strict' ? SupplementalGroupsPolicy.Strict : SupplementalGroupsPolicy.Merge;

/** Unconfined unless asked otherwise, or the runtime's own profile where that is the default. */
export function criSeccomp(profile: string, byDefault: boolean): Profile {
  if (profile === '') return { profileType: byDefault ? ProfileType.RuntimeDefault : ProfileType.Unconfined };
  if (profile === 'unconfined') return { profileType: ProfileType.Unconfined };
  if (profile === 'runtime/default' || profile === 'docker/default') return { profileType: ProfileType.RuntimeDefault };
  if (!profile.startsWith('localhost/')) throw new Error(`unknown seccomp profile option: ${profile}`);
  return { profileType: ProfileType.Localhost, localhostRef: profile.slice('localhost/'.length) };
}

function criAppArmor(pod: Pod, container: Container): Profile | undefined {
  const { profile } = appArmorProfile(pod, container);
  if (profile === '') return undefined;
  if (profile === 'unconfined') return { profileType: ProfileType.Unconfined };
  if (profile.startsWith('localhost/')) return { profileType: ProfileType.Localhost, localhostRef: profile.slice('localhost/'.length) };
  return { profileType: ProfileType.RuntimeDefault };
}

export interface SecurityInput {
  readonly imageUser: ImageUser;
  readonly seccompProfileRoot: string;
  readonly seccompDefault: boolean;
}

/** A container's security context (convertToRuntimeSecurityContext in pkg/kubelet/kuberuntime). Throws for a seccomp profile that cannot be. */
export function criSecurity(
  pod: Pod,
  { container, mounts, target }: Pick<ContainerSpec, 'container' | 'mounts' | 'target'>,
  { imageUser, seccompProfileRoot, seccompDefault }: SecurityInput,
): MessageInitShape<typeof LinuxContainerSecurityContextSchema> {
  const security = effectiveSecurityContext(pod, container);
  const { runAsUser, runAsGroup, seLinuxOptions, capabilities } = security;
  const unmasked = security.privileged === true || security.procMount === 'Unmasked';
  const uid = isSet(runAsUser) ? BigInt(runAsUser) : 'uid' in imageUser ? imageUser.uid : undefined;
  const ofMounts = [...new Set(mounts.flatMap(({ supplementalGroup }) => supplementalGroup ?? []))];
  const apparmor = criAppArmor(pod, container);
  return {
    capabilities: { addCapabilities: [...(capabilities?.add ?? [])], dropCapabilities: [...(capabilities?.drop ?? [])] },
    privileged: security.privileged === true,
    namespaceOptions: namespaces(pod, target),
    ...(isSet(seLinuxOptions) && { selinuxOptions: { ...seLinuxOptions } }),
    ...(uid !== undefined && { runAsUser: { value: uid } }),
    ...('username' in imageUser && uid === undefined && { runAsUsername: imageUser.username }),
    ...(isSet(runAsGroup) && { runAsGroup: { value: BigInt(runAsGroup) } }),
    readonlyRootfs: security.readOnlyRootFilesystem === true,
    supplementalGroups: groups(pod, ofMounts),
    supplementalGroupsPolicy: groupsPolicy(pod),
    noNewPrivs: security.allowPrivilegeEscalation === false,
    maskedPaths: unmasked ? [] : [...maskedPaths],
    readonlyPaths: unmasked ? [] : [...readonlyPaths],
    seccomp: criSeccomp(security.privileged === true ? 'unconfined' : seccompProfile(pod, container, seccompProfileRoot), seccompDefault),
    ...(apparmor && { apparmor }),
  };
}
