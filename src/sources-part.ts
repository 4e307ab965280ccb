import { join, resolve } from 'node:path';
import type { Clock } from './base/clock.ts';
import { leadsToServer } from './base/leads-to-server.ts';
import type { Logger } from './base/logger.ts';
import { mountsNow } from './base/mount-info.ts';
import { rememberedFor } from './base/remembered-for.ts';
import type { ManifestObject } from './model/manifest-object.ts';
import type { KubeletOptions } from './options/kubelet-options.ts';
import type { HostFiles } from './ports/host-files.ts';
import type { PodSource } from './ports/pod-source.ts';
import { fileSource } from './sources/file-source.ts';
import { httpSource } from './sources/http-source.ts';
import { hostManifestFiles } from './sources/manifest-files.ts';
import { lastGoodManifests } from './sources/last-good-manifests.ts';

export interface SourcesPartDeps {
  readonly hostFiles: HostFiles;
  readonly clock: Clock;
  readonly log: Logger;
  /** Hears of the ConfigMaps and Secrets of the manifest directory: complete sets. */
  readonly onObjects: (objects: readonly ManifestObject[]) => void;
}

/** How long the kernel's table of mounts is believed: it is long where many pods run, and looked at for each file, and each second. */
const MOUNTS_KNOWN_MS = 10_000;

/** The sources that the options name. */
export function sourcesPart(options: KubeletOptions, { hostFiles, clock, log, onObjects }: SourcesPartDeps): readonly PodSource[] {
  const { podManifestPath, manifestUrl, manifestUrlHeader, nodeName, rootDir, fileCheckFrequencyMs, httpCheckFrequencyMs } = options;
  const sources: PodSource[] = [];
  if (podManifestPath !== '') {
    const lastGood = lastGoodManifests(join(rootDir, 'last-good-manifests'), log);
    const mounts = rememberedFor(MOUNTS_KNOWN_MS, clock, () => mountsNow());
    const servers = {
      files: hostManifestFiles(hostFiles, new AbortController().signal),
      isServers: () => leadsToServer(resolve(podManifestPath), mounts()),
    };
    sources.push(fileSource({ path: podManifestPath, nodeName, rescanMs: fileCheckFrequencyMs, onObjects, lastGood, servers, clock, log }));
  }
  if (manifestUrl !== '') {
    // What a manifest directory holds is there for all static pods.
    const references = podManifestPath === '' ? 'refuse' : 'manifests';
    const headers = Object.entries(manifestUrlHeader).flatMap(([name, values]) => values.map((value): [string, string] => [name, value]));
    sources.push(httpSource({ url: manifestUrl, headers, pollMs: httpCheckFrequencyMs, nodeName, references, clock, log }));
  }
  return sources;
}
