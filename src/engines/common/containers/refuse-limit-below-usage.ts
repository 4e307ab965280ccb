/**
 * A kernel would kill processes until the rest fits. Throws in the words of a kubelet (validateMemoryResizeAction in
 * pkg/kubelet/kuberuntime). In bytes; `usage` is 0 where it is not known.
 */
export function refuseLimitBelowUsage(container: string, limit: number | bigint, usage: number | bigint): void {
  if (usage < limit) return;
  const what = `attempting to set container "${container}" memory limit (${limit}) below current usage (${usage})`;
  throw new Error(`cannot decrease memory limits: ${what}`);
}
