import type { ObjectReferenceOfPod, ReferencedKind } from '../model/pod-references.ts';

const resources: Readonly<Record<ReferencedKind, string>> = { ConfigMap: 'configmaps', Secret: 'secrets' };

export const collectionPath = ({ kind, namespace }: ObjectReferenceOfPod): string => `/api/v1/namespaces/${namespace}/${resources[kind]}`;

export const objectPath = (reference: ObjectReferenceOfPod): string => `${collectionPath(reference)}/${reference.name}`;
