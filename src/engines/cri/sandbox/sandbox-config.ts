import type { MessageInitShape } from '@bufbuild/protobuf';
import { hostname as nodeName } from 'node:os';
import type { Pod } from '../../../model/pod.ts';
import { portMappings } from '../../../model/port-mappings.ts';
import { dottedSysctl } from '../../../model/sysctls.ts';
import type { SandboxSpec } from '../../../ports/container-runtime.ts';
import { isSet } from '../../common/containers/security-context.ts';
import { podLabels } from '../../common/identity/container-labels.ts';
import { type PodSandboxConfigSchema, Protocol, SecurityProfile_ProfileType } from '../api/runtime_pb.js';
import { groups, groupsPolicy, namespaces } from '../containers/security.ts';

export type SandboxConfig = MessageInitShape<typeof PodSandboxConfigSchema>;

/** A sandbox as a kubelet asks for it (generatePodSandboxConfig in pkg/kubelet/kuberuntime). */
export function sandboxConfig(pod: Pod, spec: SandboxSpec, logDirectory: string): SandboxConfig {
  const { name, namespace, uid } = pod.metadata;
  const { securityContext, hostNetwork, containers } = pod.spec;
  const { runAsUser, runAsGroup, seLinuxOptions, sysctls } = securityContext ?? {};
  const { labels, annotations } = podLabels(pod);
  const { dns } = spec;
  return {
    metadata: { name, namespace, uid, attempt: spec.attempt },
    hostname: spec.hostname ?? '',
    logDirectory,
    ...(dns && { dnsConfig: { servers: [...dns.servers], searches: [...dns.searches], options: [...dns.options] } }),
    portMappings: hostNetwork ? [] : containers.flatMap(({ ports }) => portMappings(ports)).flatMap(mapping),
    labels: { ...labels },
    annotations: { ...annotations },
    linux: {
      cgroupParent: spec.cgroupParent ?? '',
      sysctls: Object.fromEntries((sysctls ?? []).map((each) => [dottedSysctl(each.name), each.value])),
      securityContext: {
        namespaceOptions: namespaces(pod, undefined, spec.userNamespace),
        ...(isSet(seLinuxOptions) && { selinuxOptions: { ...seLinuxOptions } }),
        ...(isSet(runAsUser) && { runAsUser: { value: BigInt(runAsUser) } }),
        ...(isSet(runAsGroup) && { runAsGroup: { value: BigInt(runAsGroup) } }),
        supplementalGroups: groups(pod),
        supplementalGroupsPolicy: groupsPolicy(pod),
        privileged: containers.some((each) => each.securityContext?.privileged === true),
        // Of the sandbox itself; its containers have their own.
        seccomp: { profileType: SecurityProfile_ProfileType.RuntimeDefault },
      },
    },
  };
}

/** What containers need of the sandbox's, where another agent, or this one before its restart, made it. Without a host name it follows from the pod. */
export function rememberedConfig(pod: Pod, spec: SandboxSpec, logDirectory: string): SandboxConfig {
  const hostname = pod.spec.hostNetwork ? nodeName() : (pod.spec.hostname ?? pod.metadata.name).slice(0, 63);
  return sandboxConfig(pod, { ...spec, hostname: spec.hostname ?? hostname }, logDirectory);
}

/** Only what is on the host: the rest needs nobody to forward it. */
function mapping({ protocol, containerPort, hostPort, hostIP }: ReturnType<typeof portMappings>[number]): object[] {
  if (hostPort === 0) return [];
  const known: Readonly<Record<string, Protocol>> = { UDP: Protocol.UDP, SCTP: Protocol.SCTP };
  return [{ protocol: known[protocol] ?? Protocol.TCP, containerPort, hostPort, hostIp: hostIP }];
}
