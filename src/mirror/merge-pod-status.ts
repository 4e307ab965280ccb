import type { PodCondition, PodStatus } from '../model/pod.ts';
import { isKubeletCondition, kubeletConditions } from '../model/pod-conditions.ts';

/** What a node agent says of a pod: absent in its status means absent. All other fields belong to those who set them. */
const ownFields = [
  ...([
    'phase',
    'conditions',
    'message',
    'reason',
    'hostIP',
    'hostIPs',
    'podIP',
    'podIPs',
    'startTime',
    'qosClass',
    'observedGeneration',
    'resources',
    'allocatedResources',
  ] as const),
  ...(['initContainerStatuses', 'containerStatuses', 'ephemeralContainerStatuses'] as const),
];

/**
 * Our status as the API should have it: conditions that are not the kubelet's stay as the API has them, whatever ours says
 * (mergePodStatus in pkg/kubelet/status), and so do fields that no node agent writes.
 */
export function mergePodStatus(api: PodStatus, ours: PodStatus): PodStatus {
  const foreign = Object.fromEntries(Object.entries(api).filter(([field]) => !ownFields.some((own) => own === field)));
  const own = (ours.conditions ?? []).filter(isKubeletCondition);
  const isOthers = ({ type }: PodCondition): boolean => !kubeletConditions.has(type) && !own.some((each) => each.type === type);
  const conditions = [...(api.conditions ?? []).filter(isOthers), ...own];
  const { conditions: _conditions, ...fields } = ours;
  return { ...foreign, ...fields, ...(conditions.length > 0 ? { conditions } : {}) };
}
