import { join, resolve } from 'node:path';
import { leadsToServer } from '../base/leads-to-server.ts';
import { mountsNow } from '../base/mount-info.ts';
import { rememberedFor } from '../base/remembered-for.ts';
import type { Contribution } from '../ports/contribution.ts';
import type { NodeParts } from '../ports/node-parts.ts';
import type { PodSource } from '../ports/pod-source.ts';
import { type FileSource, fileSource } from './file-source.ts';
import { httpSource } from './http-source.ts';
import { lastGoodManifests } from './last-good-manifests.ts';
import { hostManifestFiles } from './manifest-files.ts';
import { nodeManifests } from './node-manifests.ts';
import { staticPodRules } from './static-pod-rules.ts';

/** How long the kernel's table of mounts is believed: it is long where many pods run, and looked at for each file, and each second. */
const MOUNTS_KNOWN_MS = 10_000;

export type SourcesNeeds = Pick<NodeParts, 'options' | 'live' | 'clock' | 'log' | 'tell' | 'hostFiles' | 'objects'>;

/** Pods of the manifests that the options name, and the objects that lie beside them. */
export function capability(node: SourcesNeeds): Contribution {
  const { podManifestPath, manifestUrl } = node.options;
  const directory = podManifestPath === '' ? undefined : ofDirectory(node);
  return {
    sources: [...(directory ? [directory] : []), ...(manifestUrl === '' ? [] : [ofUrl(node)])],
    ...(directory && { manifests: nodeManifests(node, directory) }),
  };
}

function ofDirectory({ options, live, clock, log, tell, hostFiles, objects }: SourcesNeeds): FileSource {
  const { podManifestPath: path, nodeName, rootDir } = options;
  const mounts = rememberedFor(MOUNTS_KNOWN_MS, clock, () => mountsNow());
  return fileSource({
    path,
    nodeName,
    rules: staticPodRules(options.featureGates),
    rescanMs: () => live.now.fileCheckFrequencyMs,
    onObjects: (found) => objects.declare(found),
    lastGood: lastGoodManifests(join(rootDir, 'last-good-manifests'), log),
    servers: {
      files: hostManifestFiles(hostFiles, new AbortController().signal),
      isServers: () => leadsToServer(resolve(path), mounts()),
    },
    clock,
    log,
    tell,
  });
}

function ofUrl({ options, live, clock, log, tell }: SourcesNeeds): PodSource {
  const { podManifestPath, manifestUrl, manifestUrlHeader, nodeName, featureGates } = options;
  const rules = staticPodRules(featureGates);
  const headers = Object.entries(manifestUrlHeader).flatMap(([name, values]) => values.map((value): [string, string] => [name, value]));
  return httpSource({
    url: manifestUrl,
    headers,
    pollMs: () => live.now.httpCheckFrequencyMs,
    nodeName,
    // What a manifest directory holds is there for all static pods.
    rules: podManifestPath === '' && rules.references === 'manifests' ? { ...rules, references: 'refuse' } : rules,
    clock,
    log,
    tell,
  });
}
