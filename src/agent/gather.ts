import type { Clock } from '../base/clock.ts';
import type { KubeletOptions } from '../options/kubelet-options.ts';
import type { Capability } from '../ports/capability.ts';
import type { ContainerHooks } from '../ports/container-hooks.ts';
import type { ContainerProbes } from '../ports/container-probes.ts';
import type { Contribution, Given } from '../ports/contribution.ts';
import { noCsiVolumes } from '../ports/csi-volumes.ts';
import type { Happenings } from '../ports/happenings.ts';
import type { ImagePuller } from '../ports/image-puller.ts';
import type { NodeManifests } from '../ports/node-manifests.ts';
import type { NodeParts } from '../ports/node-parts.ts';
import type { PodStats } from '../ports/pod-stats.ts';
import { notTraced } from '../ports/tracing.ts';
import type { VolumeFiles } from '../ports/volume-files.ts';

/**
 * Loads the capabilities that the options want, and builds them in the list's order. Each listens from then on. Rejects with the name of
 * the one that cannot be built.
 */
export async function gather(
  capabilities: readonly Capability[],
  options: KubeletOptions,
  node: NodeParts,
  listen: (listener: Partial<Happenings>) => void,
): Promise<Given> {
  const wanted = capabilities.filter((each) => each.wanted(options));
  // Loaded at once, built one after the other: their order is the order in pods' lives.
  const modules = await Promise.all(wanted.map((each) => setUp(each.name, () => each.load())));
  const all: (Contribution & { readonly name: string })[] = [];
  for (const [index, { name }] of wanted.entries()) {
    const contribution = (await setUp(name, () => modules[index]?.capability(inStream(node, name)))) ?? {};
    if (contribution.listener) listen(contribution.listener);
    all.push({ ...contribution, name });
  }
  const sources = [...all.flatMap((each) => each.sources ?? []), ...node.cluster.sources];
  const routes = all.flatMap((each) => each.routes ?? []);
  // The pods of one would be those of the other, now these and now those; and a route would be hidden.
  refuseRepeats(
    'source',
    sources.map(({ name }) => name),
  );
  refuseRepeats(
    'route',
    routes.flatMap(({ methods, path }) => methods.map((method) => `${method} ${path}`)),
  );
  return {
    sources,
    participants: all.flatMap(({ name, pod }) => (pod ? [{ name, pod }] : [])),
    node: all.flatMap((each) => each.node ?? []),
    reclaim: all.flatMap(({ reclaim }) => reclaim ?? []),
    routes,
    metricTexts: all.flatMap(({ metricTexts }) => metricTexts ?? []),
    services: all.flatMap(({ services }) => services ?? []),
    hints: all.flatMap(({ hints }) => hints ?? []),
    assigned: all.flatMap(({ assigned }) => assigned ?? []),
    plugins: all.flatMap(({ plugins }) => plugins ?? []),
    images: lastOf(all, 'images') ?? noImages,
    probes: lastOf(all, 'probes') ?? noProbes,
    hooks: lastOf(all, 'hooks') ?? noHooks,
    volumeFiles: lastOf(all, 'volumeFiles') ?? noVolumes,
    csi: lastOf(all, 'csi') ?? noCsiVolumes,
    manifests: lastOf(all, 'manifests') ?? noManifests,
    stats: lastOf(all, 'stats') ?? noStats(node.clock),
    tracing: lastOf(all, 'tracing') ?? notTraced,
  };
}

/** What a capability logs is in the stream of its name. */
const inStream = (node: NodeParts, name: string): NodeParts => ({
  ...node,
  log: node.log.stream(name),
  folded: node.folded.stream(name),
});

async function setUp<T>(name: string, step: () => T | Promise<T>): Promise<T> {
  try {
    return await step();
  } catch (cause) {
    throw new Error(`${name} cannot be set up`, { cause });
  }
}

function refuseRepeats(what: string, names: readonly string[]): void {
  const repeated = names.find((name, index) => names.indexOf(name) < index);
  if (repeated !== undefined) throw new Error(`two capabilities contribute the ${what} ${repeated}`);
}

function lastOf<K extends keyof Contribution>(all: readonly Contribution[], what: K): Contribution[K] | undefined {
  return all.findLast((each) => each[what] !== undefined)?.[what];
}

/** Where nothing pulls images, what a container names is what the engine has. */
const noImages: ImagePuller = {
  ensureImage: async (_pod, { image }) => image ?? '',
  presentImage: async () => undefined,
};

/** Where nothing probes. */
export const noProbes: ContainerProbes = {
  liveness: () => undefined,
  readiness: () => undefined,
  startup: () => undefined,
  follow: () => {},
  reported: () => {},
  ending: () => {},
  forget: () => {},
};

/** Where no hooks run: the grace period is left as it is. */
export const noHooks: ContainerHooks = {
  postStart: async () => undefined,
  preStop: async (_pod, _container, _id, graceMs) => graceMs,
  ended: () => {},
  forget: () => {},
};

const noVolumes: VolumeFiles = { read: async () => undefined };

/** Where there is no manifest directory. */
export const noManifests: NodeManifests = {
  path: '',
  current: () => undefined,
  read: async () => ({ pods: new Map(), objects: new Map(), refused: [], unreadable: [] }),
};

/** Where nothing is measured, nothing is known. */
const noStats = (clock: Pick<Clock, 'now'>): PodStats => ({
  node: async () => ({ startedAtMs: clock.now(), systemContainers: [] }),
  pods: async () => [],
});
