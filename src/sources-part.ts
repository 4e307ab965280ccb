import type { Clock } from './base/clock.ts';
import type { Logger } from './base/logger.ts';
import type { KubeletOptions } from './options/kubelet-options.ts';
import type { PodSource } from './ports/pod-source.ts';
import { fileSource } from './sources/file-source.ts';
import { httpSource } from './sources/http-source.ts';

/** The sources that the options name. */
export function sourcesPart(
  options: KubeletOptions,
  { clock, log }: { readonly clock: Clock; readonly log: Logger },
): readonly PodSource[] {
  const { podManifestPath, manifestUrl, manifestUrlHeader, nodeName, fileCheckFrequencyMs, httpCheckFrequencyMs } = options;
  const sources: PodSource[] = [];
  if (podManifestPath !== '') sources.push(fileSource({ path: podManifestPath, nodeName, rescanMs: fileCheckFrequencyMs, clock, log }));
  if (manifestUrl !== '') {
    const headers = Object.entries(manifestUrlHeader).flatMap(([name, values]) => values.map((value): [string, string] => [name, value]));
    sources.push(httpSource({ url: manifestUrl, headers, pollMs: httpCheckFrequencyMs, nodeName, clock, log }));
  }
  return sources;
}
