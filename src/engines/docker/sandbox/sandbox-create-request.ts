import type { Pod } from '../../../model/pod.ts';
import { dottedSysctl } from '../../../model/sysctls.ts';
import { podLabels } from '../../common/identity/container-labels.ts';
import { type CreateRequest, DEFAULT_SHM_BYTES, dockerGroups } from '../containers/create-body.ts';
import { sandboxDockerLabels } from '../identity/docker-labels.ts';
import { sandboxDockerName } from '../identity/docker-names.ts';
import { runtimeOfHandler } from '../identity/runtime-of-handler.ts';
import { portBindings } from './port-mappings.ts';
import { isSet } from '../../common/containers/security-context.ts';
import { selinuxOpts } from '../containers/security-opts.ts';

/** Dies late, but before the daemons of the node (pkg/kubelet/dockershim/docker_sandbox.go). */
const SANDBOX_OOM_SCORE = -998;
const SANDBOX_CPU_SHARES = 2;

export interface SandboxInput {
  readonly pod: Pod;
  readonly attempt: number;
  readonly image: string;
  /** Undefined under hostNetwork. */
  readonly hostname: string | undefined;
  /** One of docker's runtimes; undefined: its default. */
  readonly handler: string | undefined;
  /** Whose job the pod's network is: the engine's bridge, or a plugin's. */
  readonly network: 'docker' | 'plugin';
  /** As docker takes it: see dockerCgroupParent. */
  readonly cgroupParent: string;
  readonly extraSupplementalGroups: readonly number[];
}

/** The pause container as dockershim made it. Throws when the pod names a group and no user. */
export function sandboxCreateRequest(input: SandboxInput): CreateRequest {
  const { pod, attempt, image, hostname, handler, network, cgroupParent, extraSupplementalGroups } = input;
  const { securityContext, hostIPC, hostPID, hostNetwork } = pod.spec;
  const { runAsUser, runAsGroup, fsGroup, supplementalGroups, seLinuxOptions, sysctls } = securityContext ?? {};
  if (isSet(runAsGroup) && !isSet(runAsUser)) throw new Error('runAsGroup is specified without a runAsUser');
  const { ExposedPorts, PortBindings } = portBindings(pod);
  // A kubelet sets these up with the security context, which defaulting always gives to a pod.
  const node = isSet(securityContext) ? { hostIPC, hostPID, hostNetwork, groups: extraSupplementalGroups } : { groups: [] };
  return {
    name: sandboxDockerName(pod, attempt),
    body: {
      Hostname: hostname,
      Image: image,
      Labels: sandboxDockerLabels(podLabels(pod)),
      User: isSet(runAsUser) ? userOf(runAsUser, runAsGroup) : undefined,
      ExposedPorts,
      HostConfig: {
        IpcMode: node.hostIPC ? 'host' : 'shareable',
        PidMode: node.hostPID ? 'host' : undefined,
        NetworkMode: node.hostNetwork ? 'host' : network === 'plugin' ? 'none' : 'default',
        GroupAdd: dockerGroups([fsGroup, ...node.groups, ...(supplementalGroups ?? [])]),
        Sysctls: Object.fromEntries((sysctls ?? []).map(({ name, value }) => [dottedSysctl(name), value])),
        PortBindings,
        OomScoreAdj: SANDBOX_OOM_SCORE,
        CpuShares: SANDBOX_CPU_SHARES,
        CgroupParent: cgroupParent,
        Runtime: runtimeOfHandler(handler),
        SecurityOpt: [...selinuxOpts(seLinuxOptions), 'no-new-privileges'],
        ShmSize: DEFAULT_SHM_BYTES,
      },
    },
  };
}

const userOf = (user: number, group: number | null | undefined): string => (isSet(group) ? `${user}:${group}` : String(user));
