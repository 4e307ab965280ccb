/** The engine's health as the relists of its pods tell it. */
export interface PodListingHealth {
  readonly healthy: boolean;
  readonly message: string;
}

/** Why pods cannot run for the engine's sake, in the kubelet's words (pkg/kubelet/runtime.go runtimeErrors). */
export function runtimeErrors({ healthy, message }: PodListingHealth): readonly string[] {
  return healthy ? [] : [`PLEG is not healthy: ${message}`];
}
