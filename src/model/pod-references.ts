import { allContainers } from './pod-predicates.ts';
import type { Pod } from './pod.ts';

export type ReferencedKind = 'ConfigMap' | 'Secret';

export interface ObjectReferenceOfPod {
  readonly kind: ReferencedKind;
  readonly namespace: string;
  readonly name: string;
}

/** "Secret default/token" */
export const referenceKey = ({ kind, namespace, name }: ObjectReferenceOfPod): string => `${kind} ${namespace}/${name}`;

/**
 * Every ConfigMap and Secret that a pod's image pulls, environment and volumes name, each once (pkg/api/v1/pod VisitPodSecretNames,
 * VisitPodConfigmapNames). The secrets of its service account are among the pull secrets: the API server's ServiceAccount admission puts
 * their names into each pod that has none of its own.
 */
export function podReferences({ metadata, spec }: Pod): readonly ObjectReferenceOfPod[] {
  const found = new Map<string, ObjectReferenceOfPod>();
  const add = (kind: ReferencedKind, name: string | undefined): void => {
    if (!name) return;
    const reference = { kind, namespace: metadata.namespace, name };
    found.set(referenceKey(reference), reference);
  };
  for (const { name } of spec.imagePullSecrets ?? []) add('Secret', name);
  for (const { env = [], envFrom = [] } of allContainers(spec)) {
    for (const { configMapRef, secretRef } of envFrom) {
      add('ConfigMap', configMapRef?.name);
      add('Secret', secretRef?.name);
    }
    for (const { valueFrom } of env) {
      add('ConfigMap', valueFrom?.configMapKeyRef?.name);
      add('Secret', valueFrom?.secretKeyRef?.name);
    }
  }
  for (const { configMap, secret, projected } of spec.volumes ?? []) {
    add('ConfigMap', configMap?.name);
    add('Secret', secret?.secretName);
    for (const source of projected?.sources ?? []) {
      add('ConfigMap', source.configMap?.name);
      add('Secret', source.secret?.name);
    }
  }
  return [...found.values()];
}
