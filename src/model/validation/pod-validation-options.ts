/** What feature gates and flags decide about validation. The defaults are those of Kubernetes 1.20 and its kubelet. */
export interface PodValidationOptions {
  /** More than one size of huge pages in a pod (gate HugePageStorageMediumSize). */
  readonly allowMultipleHugePageResources: boolean;
  /** `limits.hugepages-…` in the downward API (gate DownwardAPIHugePages). */
  readonly allowDownwardAPIHugePages: boolean;
  readonly allowPrivileged: boolean;
}

export const defaultPodValidationOptions: PodValidationOptions = {
  allowMultipleHugePageResources: true,
  allowDownwardAPIHugePages: false,
  allowPrivileged: true,
};
