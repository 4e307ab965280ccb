import type {
  V1Affinity,
  V1HostAlias,
  V1LocalObjectReference,
  V1NodeAffinity,
  V1NodeSelector,
  V1NodeSelectorRequirement,
  V1NodeSelectorTerm,
  V1PodDNSConfig,
  V1PodDNSConfigOption,
  V1PodOS,
  V1PodReadinessGate,
  V1PodSpec,
} from '@kubernetes/client-node';
import { container, ephemeralContainer, resources } from './containers.ts';
import { approximated, honoured, honouredBy, is, isNot, refused, section } from './entry.ts';
import { podSecurityContext } from './security.ts';
import { volume } from './volumes.ts';

const scheduler = honouredBy('the scheduler: a node has no part in it');
const apiServer = honouredBy('the API server: a node has no part in it');

const requirement = section<V1NodeSelectorRequirement>('NodeSelectorRequirement', { key: honoured, operator: honoured, values: honoured });

const nodeAffinity = section<V1NodeAffinity>('NodeAffinity', {
  preferredDuringSchedulingIgnoredDuringExecution: scheduler,
  requiredDuringSchedulingIgnoredDuringExecution: section<V1NodeSelector>('NodeSelector', {
    nodeSelectorTerms: section<V1NodeSelectorTerm>('NodeSelectorTerm', { matchExpressions: requirement, matchFields: requirement }),
  }),
});

/** What becomes of each field of a pod's spec. */
export const podSpecLedger = section<V1PodSpec>('PodSpec', {
  activeDeadlineSeconds: honoured,
  affinity: section<V1Affinity>('Affinity', { nodeAffinity, podAffinity: scheduler, podAntiAffinity: scheduler }),
  automountServiceAccountToken: apiServer,
  containers: container,
  dnsConfig: section<V1PodDNSConfig>('PodDNSConfig', {
    nameservers: honoured,
    options: section<V1PodDNSConfigOption>('PodDNSConfigOption', { name: honoured, value: honoured }),
    searches: honoured,
  }),
  dnsPolicy: honoured,
  enableServiceLinks: honoured,
  ephemeralContainers: ephemeralContainer,
  hostAliases: section<V1HostAlias>('HostAlias', { hostnames: honoured, ip: honoured }),
  hostIPC: honoured,
  hostNetwork: honoured,
  hostPID: honoured,
  hostUsers: approximated(
    'on containerd from 2.0 on the pod has users and groups of its own, and volumes show their owners as if they were in it; on a Docker engine with userns-remap all its containers share one range of users, and volumes show the owners of the node; on another the pod fails with reason UserNamespacesNotSupported',
    { when: is(false) },
  ),
  hostname: honoured,
  hostnameOverride: honoured,
  imagePullSecrets: section<V1LocalObjectReference>('LocalObjectReference', { name: honoured }),
  initContainers: container,
  nodeName: honoured,
  nodeSelector: honoured,
  os: section<V1PodOS>('PodOS', { name: refused('the pod fails with reason PodOSNotSupported', { when: isNot('linux') }) }),
  overhead: honoured,
  preemptionPolicy: scheduler,
  priority: honoured,
  priorityClassName: apiServer,
  readinessGates: section<V1PodReadinessGate>('PodReadinessGate', { conditionType: honoured }),
  resourceClaims: honouredBy('the drivers whose plugins register on the node; without an API server the pod fails'),
  resources,
  restartPolicy: honoured,
  runtimeClassName: honoured,
  schedulerName: scheduler,
  schedulingGates: scheduler,
  schedulingGroup: scheduler,
  securityContext: podSecurityContext,
  serviceAccount: apiServer,
  serviceAccountName: honoured,
  setHostnameAsFQDN: honoured,
  shareProcessNamespace: honoured,
  subdomain: honoured,
  terminationGracePeriodSeconds: honoured,
  tolerations: scheduler,
  topologySpreadConstraints: scheduler,
  volumes: volume,
});
