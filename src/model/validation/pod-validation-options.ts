/** What feature gates and flags decide about validation. The defaults are those of Kubernetes 1.36 and its kubelet. */
export interface PodValidationOptions {
  /** More than one size of huge pages in a pod (gate HugePageStorageMediumSize). */
  readonly allowMultipleHugePageResources: boolean;
  /** `limits.hugepages-…` in the downward API (gate DownwardAPIHugePages). */
  readonly allowDownwardAPIHugePages: boolean;
  readonly allowPrivileged: boolean;
  /** `fileKeyRef` of variables (gate EnvFiles). */
  readonly allowEnvFiles: boolean;
  /** Restart policies of containers that are no sidecars, and rules (gate ContainerRestartRules). */
  readonly allowContainerRestartRules: boolean;
  /** Paths of lists and maps that were written, though empty: a field that may not be set is set by them too. */
  readonly writtenEmpty: ReadonlySet<string>;
}

export const defaultPodValidationOptions: PodValidationOptions = {
  allowMultipleHugePageResources: true,
  allowDownwardAPIHugePages: true,
  allowPrivileged: true,
  allowEnvFiles: true,
  allowContainerRestartRules: true,
  writtenEmpty: new Set(),
};
