import { NEVER } from 'rxjs';
import { replayedEngine } from './engines/replay/replayed-engine.ts';
import type { Capability } from './ports/capability.ts';
import type { Cluster } from './ports/cluster.ts';
import type { Engine } from './ports/engine.ts';
import type { NodeParts } from './ports/node-parts.ts';
import type { Boundary } from './recording/boundary.ts';
import { boundContribution } from './recording/bound-contribution.ts';
import { boundPort } from './recording/bound-port.ts';
import { boundServices } from './recording/bound-services.ts';
import type { HiddenValues } from './recording/hidden-values.ts';
import { ownParts } from './recording/own-parts.ts';
import { clusterKinds, diskKinds, engineKinds, nodeKinds, objectsKinds } from './recording/port-kinds.ts';
import { type RealOf, remembered } from './recording/reality.ts';
import type { Surroundings } from './surroundings.ts';

/** What an agent needs to run behind a boundary. */
export interface BoundAgent {
  readonly surroundings: Surroundings;
  readonly list: readonly Capability[];
}

/** What is real; in a replay nothing is. */
export interface Outside {
  readonly surroundings: Surroundings;
  readonly list: readonly Capability[];
  readonly stop: AbortSignal;
}

type RealParts = Pick<NodeParts, 'engine' | 'cluster' | 'objects' | 'node' | 'files' | 'podFiles' | 'restartMarks' | 'hostFiles'>;

interface Reality {
  readonly of: RealOf;
  parts: Partial<RealParts>;
}

type Frame = Pick<Surroundings, 'log' | 'origins' | 'verbosity' | 'logClock' | 'config' | 'beside'>;

/**
 * The agent's surroundings and capabilities, with a boundary around its own decisions. Inside are the mux, the queue, the planner, the steps and the
 * statuses: src/agent/ and src/kubelet.ts. Outside are the engine, the cluster, the disk, and all capabilities with what they contribute.
 * `names` are those of the capabilities, in their order.
 */
export function boundAgent(
  boundary: Boundary,
  frame: Frame,
  names: readonly string[],
  outside: Outside | undefined,
  hidden?: HiddenValues,
): BoundAgent {
  const reality: Reality = { of: new WeakMap(), parts: {} };
  const keep = (parts: Partial<RealParts> | undefined): void => void Object.assign(reality.parts, parts);
  const real = outside?.surroundings;
  const notInReplay = (): never => {
    throw new Error('not in a replay');
  };
  const surroundings: Surroundings = {
    ...frame,
    clock: boundary.clock,
    random: boundary.random,
    lastSeq: (options) => real?.lastSeq(options) ?? 0,
    openDisk: async (options, log) => {
      const disk = await portFrom(boundary, 'disk', real && (() => real.openDisk(options, log)));
      keep(disk);
      return boundPort(boundary, 'disk', diskKinds, disk);
    },
    hostFiles: ({ log }) => {
      if (outside) keep({ hostFiles: outside.surroundings.hostFiles({ clock: outside.surroundings.clock, log }, outside.stop) });
      return { run: notInReplay, silent: () => [] };
    },
    cgroups: () => boundary.ask('cgroups', [], async () => real?.cgroups() ?? notInReplay()),
    memory: (cgroups) => boundary.ask('memory', [], async () => real?.memory(cgroups) ?? notInReplay()),
    openCluster: async (options, ground) => {
      const opened = await portFrom(boundary, 'cluster', real && (() => real.openCluster(options, { ...ground, ...timesOf(real) })));
      if (opened) keep({ cluster: opened });
      const cluster = boundPort(boundary, 'cluster', clusterKinds, opened);
      const services = boundServices(boundary, 'cluster.services', reality.of, opened && (() => opened.services));
      const sources = remembered(cluster.sources, opened?.sources, reality.of);
      return { ...cluster, ...(opened ? {} : absentCluster), sources, services };
    },
    openEngine: async (options, ground, stop) => {
      const { files } = { ...ground, ...reality.parts };
      const opened = await portFrom(
        boundary,
        'engine',
        real && (() => real.openEngine(options, { ...ground, ...timesOf(real), files }, outside?.stop ?? stop)),
      );
      if (opened) keep({ engine: opened });
      return boundEngine(boundary, opened, reality.of);
    },
    openNode: async (options, { live, log, cgroups }) => {
      const { cluster } = reality.parts;
      const opened = await portFrom(
        boundary,
        'node',
        real && cluster && (() => real.openNode(options, { live, cluster, clock: real.clock, log, cgroups })),
      );
      if (opened) keep({ node: opened });
      return boundPort(boundary, 'node', nodeKinds, opened);
    },
    openObjects: (options, { log }) => {
      const { cluster } = reality.parts;
      const opened = real && cluster && real.openObjects(options, { cluster, log, ...timesOf(real) });
      if (opened) keep({ objects: opened });
      return boundPort(boundary, 'objects', objectsKinds(hidden), opened);
    },
  };
  const own = once((node: NodeParts) => ownParts(boundary, node));
  const list = names.map((name): Capability => ({
    name,
    wanted: () => true,
    load: async () => {
      const module = await portFrom(
        boundary,
        `${name}.module`,
        outside && (async () => outside.list.find((each) => each.name === name)?.load()),
      );
      return {
        capability: async (node) => {
          const parts: NodeParts = { ...node, ...(real && timesOf(real)), ...reality.parts, ...own(node) };
          const made = await portFrom(boundary, `${name}.contribution`, module && (async () => module.capability(parts)));
          return boundContribution(boundary, name, made, reality.of, hidden);
        },
      };
    },
  }));
  const decisions: Capability = {
    name: 'recording',
    wanted: () => true,
    load: async () => ({ capability: () => ({ listener: { reconciled: (record) => boundary.decided(record) } }) }),
  };
  return { surroundings, list: [...list, decisions] };
}

const timesOf = ({ clock, random }: Surroundings): Pick<Surroundings, 'clock' | 'random'> => ({ clock, random });

/** Opens what is a port: there is one, or the error is an answer. */
async function portFrom<T extends object>(
  boundary: Boundary,
  name: string,
  outside: (() => Promise<T | undefined>) | undefined,
): Promise<T | undefined> {
  const opened = await boundary.ask<T | undefined>(`open ${name}`, [], async () => outside?.(), { isPort: true });
  return outside && opened;
}

/** What a replay has of a cluster besides what is recorded. */
const absentCluster: Pick<Cluster, 'listener' | 'nodes' | 'nodeChanges' | 'node'> = {
  listener: {},
  nodes: NEVER,
  nodeChanges: NEVER,
  node: () => undefined,
};

function boundEngine(boundary: Boundary, real: Engine | undefined, realOf: RealOf): Engine {
  const engine: Engine = {
    ...boundPort(boundary, 'engine', engineKinds, real),
    services: ({ relists }) => {
      const followed = boundary.followable('relists of the engine', relists);
      return boundServices(boundary, 'engine.services', realOf, real && (() => real.services({ relists: followed })));
    },
  };
  return real ? engine : replayedEngine(engine);
}

function once<A, T>(make: (arg: A) => T): (arg: A) => T {
  let made: { readonly value: T } | undefined;
  return (arg) => (made ??= { value: make(arg) }).value;
}
