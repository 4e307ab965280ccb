import type { ObjectMeta, PodSpec, PodStatus, RawPod } from '../pod.ts';
import { defaultContainer, defaultPodContainer } from './default-container.ts';
import { defaultPodResources } from './default-pod-resources.ts';
import { roundUpToMilli } from './default-values.ts';
import { defaultVolume } from './default-volume.ts';

const graceSeconds = 30;
/** What init containers were written in before 1.6. */
const oldInitAnnotations: readonly string[] = ['alpha', 'beta'].flatMap((stage) => [
  `pod.${stage}.kubernetes.io/init-containers`,
  `pod.${stage}.kubernetes.io/init-container-statuses`,
]);

/**
 * The pod as the API server would store it: v1 defaulting, and what the way through Kubernetes' internal version changes (kind and
 * apiVersion are known and dropped). Takes a decoded pod, in which null and Go's zero values are absent; does not mutate it. A
 * defaulted pod stays as it is.
 * Source: pkg/apis/core/v1 defaults.go and conversion.go.
 */
export function defaultPod({ apiVersion: _v1, kind: _pod, ...pod }: RawPod): RawPod {
  return {
    ...pod,
    metadata: defaultMeta(pod.metadata ?? {}),
    spec: defaultSpec(pod.spec ?? { containers: [] }),
    status: defaultStatus(pod.status ?? {}),
  };
}

function defaultMeta(meta: ObjectMeta): ObjectMeta {
  const { annotations } = meta;
  if (annotations === undefined || !oldInitAnnotations.some((key) => Object.hasOwn(annotations, key))) return meta;
  const { annotations: _, ...others } = meta;
  const kept = Object.entries(annotations).filter(([key]) => !oldInitAnnotations.includes(key));
  return kept.length === 0 ? others : { ...others, annotations: Object.fromEntries(kept) };
}

function defaultSpec(spec: PodSpec): PodSpec {
  const hostNetwork = spec.hostNetwork === true;
  const { volumes, ephemeralContainers, overhead } = spec;
  const initContainers = spec.initContainers?.map((c) => defaultPodContainer(c, hostNetwork));
  const containers = spec.containers?.map((c) => defaultPodContainer(c, hostNetwork));
  const resources = defaultPodResources({ ...spec, ...(initContainers && { initContainers }), containers: containers ?? [] });
  const serviceAccountName = spec.serviceAccountName || spec.serviceAccount;
  return {
    ...spec,
    ...(resources !== undefined && { resources }),
    ...(volumes !== undefined && { volumes: volumes.map(defaultVolume) }),
    ...(initContainers !== undefined && { initContainers }),
    ...(containers !== undefined && { containers }),
    ...(ephemeralContainers !== undefined && { ephemeralContainers: ephemeralContainers.map(defaultContainer) }),
    ...(overhead !== undefined && { overhead: roundUpToMilli(overhead) }),
    // The older name is the newer one's alias.
    ...(serviceAccountName && { serviceAccountName, serviceAccount: serviceAccountName }),
    restartPolicy: spec.restartPolicy || 'Always',
    dnsPolicy: spec.dnsPolicy || 'ClusterFirst',
    schedulerName: spec.schedulerName || 'default-scheduler',
    terminationGracePeriodSeconds: spec.terminationGracePeriodSeconds ?? graceSeconds,
    securityContext: spec.securityContext ?? {},
    enableServiceLinks: spec.enableServiceLinks ?? true,
  };
}

/** The one address and the first of all are the same; where they differ the one is right. */
function defaultStatus(status: PodStatus): PodStatus {
  const { podIP = '', podIPs = [] } = status;
  const first = podIPs[0]?.ip ?? '';
  if (podIP === first && (podIP === '') === (podIPs.length === 0)) return status;
  if (podIP === '') return first === '' ? status : { ...status, podIP: first };
  return podIP === first ? status : { ...status, podIPs: [{ ip: podIP }] };
}
