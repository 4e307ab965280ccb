/**
 * From what time on a log is asked for, in milliseconds since the epoch: the later one of v1.PodLogOptions' two ways to say it
 * (pkg/kubelet/kuberuntime/logs NewLogOptions). Undefined: from its beginning, which is never before 1970.
 */
export function logSinceMs(
  { sinceSeconds, sinceTimeMs }: { readonly sinceSeconds: number | undefined; readonly sinceTimeMs: number | undefined },
  nowMs: number,
): number | undefined {
  const ago = sinceSeconds === undefined ? undefined : Math.max(0, nowMs - sinceSeconds * 1000);
  if (ago === undefined || sinceTimeMs === undefined) return ago ?? sinceTimeMs;
  return Math.max(ago, sinceTimeMs);
}
