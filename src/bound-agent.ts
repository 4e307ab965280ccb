import { NEVER } from 'rxjs';
import { replayedEngine } from './engines/replay/replayed-engine.ts';
import type { Capability } from './ports/capability.ts';
import type { Cluster } from './ports/cluster.ts';
import type { Contribution, Given } from './ports/contribution.ts';
import type { Engine } from './ports/engine.ts';
import type { NodeParts } from './ports/node-parts.ts';
import type { Staged } from './ports/staged.ts';
import type { Boundary } from './recording/boundary.ts';
import { boundPort, boundPorts } from './recording/bound-port.ts';
import type { HiddenValues } from './recording/hidden-values.ts';
import { clusterKinds, contributionKinds, diskKinds, engineKinds, nodeKinds, objectsKinds, serviceKinds } from './recording/port-kinds.ts';
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

/** What lies outside sees what is real, and never what stands for it inside. */
interface Reality {
  readonly of: WeakMap<object, object>;
  parts: Partial<RealParts>;
}

type Frame = Pick<Surroundings, 'log' | 'origins' | 'verbosity' | 'logClock'>;

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
    openEngine: async (options, ground) => {
      const opened = await portFrom(boundary, 'engine', real && (() => real.openEngine(options, { ...ground, ...timesOf(real) })));
      if (opened) keep({ engine: opened });
      return boundEngine(boundary, opened, reality.of);
    },
    openNode: async (options, { log, cgroups }) => {
      const { cluster } = reality.parts;
      const opened = await portFrom(
        boundary,
        'node',
        real && cluster && (() => real.openNode(options, { cluster, clock: real.clock, log, cgroups })),
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

function boundEngine(boundary: Boundary, real: Engine | undefined, realOf: WeakMap<object, object>): Engine {
  const engine: Engine = {
    ...boundPort(boundary, 'engine', engineKinds, real),
    services: ({ relists }) => {
      const followed = boundary.followable('relists of the engine', relists);
      return boundServices(boundary, 'engine.services', realOf, real && (() => real.services({ relists: followed })));
    },
  };
  return real ? engine : replayedEngine(engine);
}

function boundServices(
  boundary: Boundary,
  name: string,
  realOf: WeakMap<object, object>,
  real: (() => readonly Staged[]) | undefined,
): readonly Staged[] {
  let services: readonly Staged[] = [];
  const ports = boundPorts(boundary, name, serviceKinds, real && (() => (services = real())));
  return remembered(
    ports.map((port, index): Staged => ({
      ...port,
      run: (signal, given) =>
        boundary.ask(`${name}[${index}].run`, [signal], async () => services[index]?.run(signal, givenOutside(given, realOf))),
    })),
    services,
    realOf,
  );
}

function boundContribution(
  boundary: Boundary,
  name: string,
  real: Contribution | undefined,
  realOf: WeakMap<object, object>,
  hidden: HiddenValues | undefined,
): Contribution {
  const bound = boundPort(boundary, name, contributionKinds(hidden), real);
  for (const key of ['pod', 'images', 'probes', 'hooks', 'volumeFiles'] as const) remembered([bound[key]], [real?.[key]], realOf);
  const services = boundServices(boundary, `${name}.services`, realOf, real && (() => real.services ?? []));
  return { ...bound, services, sources: remembered(bound.sources ?? [], real?.sources, realOf) };
}

/** The same, after it is known for each what it stands for. */
function remembered<T>(inside: readonly T[], real: readonly T[] | undefined, realOf: WeakMap<object, object>): readonly T[] {
  for (const [index, each] of inside.entries()) {
    const one = real?.[index];
    if (typeof each === 'object' && each !== null && typeof one === 'object' && one !== null) realOf.set(each, one);
  }
  return inside;
}

/** What all capabilities contribute, as it is given to what lies outside. */
function givenOutside(given: Given, realOf: WeakMap<object, object>): Given {
  const real = <T extends object>(each: T): T => (realOf.get(each) as T | undefined) ?? each;
  return {
    ...given,
    sources: given.sources.map(real),
    participants: given.participants.map(({ name, pod }) => ({ name, pod: real(pod) })),
    services: given.services.map(real),
    images: real(given.images),
    probes: real(given.probes),
    hooks: real(given.hooks),
    volumeFiles: real(given.volumeFiles),
  };
}

/** The agent's own parts for what lies outside: what is asked of them there comes in in its turn. */
function ownParts(boundary: Boundary, { statuses, ends, pleg, wake }: NodeParts): Pick<NodeParts, 'wake' | 'ends' | 'statuses' | 'pleg'> {
  const looked =
    <A extends readonly unknown[], T>(look: (...args: A) => T) =>
    (...args: A): T => {
      let found: { readonly value: T } | undefined;
      boundary.tell(() => void (found = { value: look(...args) }));
      if (found === undefined) throw new Error('nothing lies outside');
      return found.value;
    };
  return {
    wake: boundary.callable('wake', wake),
    ends: {
      end: boundary.callable('end', (uid, end) => ends.end(uid, end)),
      startOver: boundary.callable('start over', (uid) => ends.startOver(uid)),
      of: looked((uid) => ends.of(uid)),
    },
    statuses: {
      get: (uid) => statuses.get(uid),
      changes: statuses.changes,
      before: looked((pod) => statuses.before(pod)),
      adopt: boundary.callable('adopt status', (uid, before) => statuses.adopt(uid, before)),
      amend: boundary.callable('amend status', (uid, change) => statuses.amend(uid, change)),
    },
    pleg: {
      changes: boundary.followable('pleg changes', pleg.changes),
      relists: boundary.followable('pleg relists', pleg.relists),
      recoveries: boundary.followable('pleg recoveries', pleg.recoveries),
      health: () => pleg.health(),
      missed: () => pleg.missed(),
    },
  };
}

function once<A, T>(make: (arg: A) => T): (arg: A) => T {
  let made: { readonly value: T } | undefined;
  return (arg) => (made ??= { value: make(arg) }).value;
}
