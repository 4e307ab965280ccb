import type { PodUid } from '../../../model/pod.ts';
import { readContainerLabels } from '../../common/identity/container-labels.ts';
import type { LabelsAndAnnotations } from '../../common/identity/pod-labels.ts';
import type { ContainerMetadata } from '../api/runtime_pb.js';
import type { LogOwner } from './log-directories.ts';

/** Whose log a container has, as its labels say; undefined: no kubelet made it. */
export function logOwner({
  metadata,
  ...labelled
}: LabelsAndAnnotations & { readonly metadata?: Pick<ContainerMetadata, 'attempt'> | undefined }): LogOwner | undefined {
  const { podName: name, podNamespace: namespace, podUid: uid, containerName } = readContainerLabels(labelled);
  if (name === '' || namespace === '' || uid === '' || containerName === '') return undefined;
  return { pod: { metadata: { name, namespace, uid: uid as PodUid } }, container: containerName, attempt: metadata?.attempt ?? 0 };
}
