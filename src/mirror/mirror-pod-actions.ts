import type { V1Node } from '@kubernetes/client-node';
import { CONFIG_MIRROR_ANNOTATION } from '../model/config-annotations.ts';
import { isMirrorPodOf, isStaticPod, staticPodHash } from '../model/mirror-pod.ts';
import type { Pod } from '../model/pod.ts';
import type { Wire } from '../model/wire.ts';
import { withoutReferences } from './without-references.ts';

/** What is asked of a Node: who it is, and whether it stays. */
export type MirrorOwner = Pick<Wire<V1Node>, 'metadata'>;

export type MirrorPodAction =
  | { readonly do: 'delete'; readonly mirror: Pod; readonly because: string }
  /** Whatever is deleted before it must be gone. `body` is what the API server is asked to create. */
  | { readonly do: 'create'; readonly body: Pod };

/**
 * What makes the mirror right for its static pod. Without a Node that stays, none is created: it would have no owner. Undefined `pod`: the
 * static pod is gone. The rules are those of Kubelet.syncPod, CreateMirrorPod and deleteOrphanedMirrorPods (pkg/kubelet).
 */
export function mirrorPodActions(pod: Pod | undefined, mirror: Pod | undefined, node: MirrorOwner | undefined): readonly MirrorPodAction[] {
  if (pod === undefined) return mirror ? [{ do: 'delete', mirror, because: 'its static pod is gone' }] : [];
  if (!isStaticPod(pod) || pod.metadata.deletionTimestamp !== undefined) return [];
  const wrong = mirror && whyWrong(mirror, pod);
  if (mirror && wrong === undefined) return [];
  const body = node && mirrorPodOf(pod, node);
  return [
    ...(mirror && wrong !== undefined ? [{ do: 'delete' as const, mirror, because: wrong }] : []),
    ...(body ? [{ do: 'create' as const, body }] : []),
  ];
}

function whyWrong(mirror: Pod, pod: Pod): string | undefined {
  if (mirror.metadata.deletionTimestamp !== undefined) return 'it is being deleted while its static pod stays';
  return isMirrorPodOf(mirror, pod) ? undefined : 'its static pod has changed';
}

/** Owned by the Node, as NodeRestriction asks for; undefined for a Node that goes or has no uid yet. */
function mirrorPodOf(pod: Pod, { metadata: node }: MirrorOwner): Pod | undefined {
  const { name, uid, deletionTimestamp } = node ?? {};
  if (!name || !uid || deletionTimestamp !== undefined) return undefined;
  return {
    ...pod,
    apiVersion: 'v1',
    kind: 'Pod',
    spec: withoutReferences(pod.spec),
    metadata: {
      ...pod.metadata,
      annotations: { ...pod.metadata.annotations, [CONFIG_MIRROR_ANNOTATION]: staticPodHash(pod) },
      ownerReferences: [{ apiVersion: 'v1', kind: 'Node', name, uid, controller: true }],
    },
  };
}
