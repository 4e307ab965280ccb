export type StringMap = Readonly<Record<string, string>>;

export interface LabelsAndAnnotations {
  readonly labels: StringMap;
  readonly annotations: StringMap;
}

/** Labels that say whose a container is (pkg/kubelet/types/labels.go). */
export const POD_NAME_LABEL = 'io.kubernetes.pod.name';
export const POD_NAMESPACE_LABEL = 'io.kubernetes.pod.namespace';
export const POD_UID_LABEL = 'io.kubernetes.pod.uid';
export const CONTAINER_NAME_LABEL = 'io.kubernetes.container.name';
