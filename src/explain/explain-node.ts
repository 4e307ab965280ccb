import type { Cause, ExplainedNode } from '../model/explanation.ts';
import type { HealthCheck, NodeParticipant } from '../ports/node-participant.ts';
import type { FilesystemStats, NodeUsage } from '../ports/pod-stats.ts';

/** All that an explanation of the node is made of. Dates in milliseconds since the epoch. */
export interface NodeFacts {
  readonly nowMs: number;
  readonly name: string;
  /** Why it is not ready. */
  readonly errors: readonly string[];
  readonly conditions: readonly ReturnType<NonNullable<NodeParticipant['conditions']>>[number][];
  readonly health: readonly HealthCheck[];
  readonly engine: { readonly name: string; readonly healthy: boolean; readonly ageMs: number; readonly message: string };
  /** Undefined: there is no API server. */
  readonly api: ApiFacts | undefined;
  readonly usage: NodeUsage | undefined;
  /** Whether every source of pods has spoken. */
  readonly synced: boolean;
  /** How many pods are in each state. */
  readonly pods: Readonly<Record<string, number>>;
  readonly sources: readonly string[];
}

export interface ApiFacts {
  /** The last answer, and the last request without one. */
  readonly answeredAtMs: number | undefined;
  readonly failedAtMs: number | undefined;
  readonly lease: { readonly atMs: number; readonly error: string | undefined } | undefined;
  readonly registered: boolean;
}

type Part = ExplainedNode['parts'][number];

/** Whether the node is ready, and why not. Pure. */
export function explainNode(facts: NodeFacts): ExplainedNode {
  const { name, errors, engine, conditions, api, synced } = facts;
  const pressures = conditions.filter(({ type, status }) => type.endsWith('Pressure') && status === 'True');
  const others = errors.filter((error) => !/PLEG is not healthy/.test(error));
  const causes: Cause[] = [
    ...(engine.healthy
      ? []
      : [
          fault(
            'engine-down',
            `the container engine (${engine.name}) does not answer: ${engine.message}`,
            'look at the engine (systemctl status docker); running containers go on',
          ),
        ]),
    ...others.map((error) =>
      fault(
        /network|cni/i.test(error) ? 'network' : 'not-ready',
        error,
        /cni|network/i.test(error) ? 'look at the CNI configuration and plugins of this node' : 'see the message',
      ),
    ),
    ...pressures.map(({ type, message }) =>
      fault(
        type.replace('Pressure', '-pressure').toLowerCase(),
        `${type}: ${message}; pods may be evicted, and new ones are refused`,
        'make room: end pods, remove images or files (see the use below)',
      ),
    ),
    ...apiCauses(facts.nowMs, api),
    ...(synced
      ? []
      : [
          {
            code: 'sources-not-read',
            kind: 'wait',
            text: `not every source of pods has spoken yet (${facts.sources.join(', ')}): nothing is cleaned up before`,
            advice: 'look at the log for the source that cannot be read',
          } satisfies Cause,
        ]),
    ...facts.health.flatMap(({ name: check, note, error }): readonly Cause[] =>
      check === 'syncloop' || (note === undefined && error === undefined)
        ? []
        : [{ code: 'health', kind: error === undefined ? 'note' : 'fault', text: `${check}: ${error ?? note}` }],
    ),
  ];
  const weight = { fault: 0, wait: 1, note: 2 } as const;
  return {
    name,
    ready: errors.length === 0 && engine.healthy,
    causes: causes.toSorted((a, b) => weight[a.kind] - weight[b.kind]),
    parts: [
      enginePart(facts),
      ...apiParts(facts.nowMs, api),
      pressurePart(
        pressures.map(({ type }) => type),
        conditions.length,
      ),
      ...diskParts(facts.usage),
      ...memoryPart(facts.usage),
      podsPart(facts),
    ],
  };
}

const fault = (code: string, text: string, advice: string): Cause => ({ code, kind: 'fault', text, advice });

function apiCauses(nowMs: number, api: ApiFacts | undefined): readonly Cause[] {
  if (!api) return [];
  const { answeredAtMs, failedAtMs, lease } = api;
  if (failedAtMs !== undefined && (answeredAtMs === undefined || failedAtMs > answeredAtMs))
    return [
      {
        code: 'api-server-down',
        kind: 'fault',
        text: `the API server does not answer${answeredAtMs === undefined ? '' : ` since ${ago(nowMs - answeredAtMs)}`}: pods run on, changes from the cluster do not come`,
        advice: 'look at the API server and the network to it',
      },
    ];
  if (lease?.error !== undefined)
    return [
      {
        code: 'lease-not-renewed',
        kind: 'fault',
        text: `the node's lease cannot be renewed: ${lease.error}`,
        sinceMs: lease.atMs,
        advice: "check the node's rights (Node authorizer) and its name",
      },
    ];
  return api.registered
    ? []
    : [
        {
          code: 'not-registered',
          kind: 'wait',
          text: 'the API server does not show this node yet',
          advice: 'see the log for why it is not registered',
        },
      ];
}

function enginePart({ engine }: NodeFacts): Part {
  return {
    part: 'engine',
    well: engine.healthy,
    text: engine.healthy ? `${engine.name}, pods last listed ${ago(engine.ageMs)} ago` : `${engine.name}: ${engine.message}`,
  };
}

function apiParts(nowMs: number, api: ApiFacts | undefined): readonly Part[] {
  if (!api) return [{ part: 'API server', well: true, text: 'none: this node stands alone' }];
  const { answeredAtMs, failedAtMs, lease } = api;
  const well = answeredAtMs !== undefined && (failedAtMs === undefined || answeredAtMs >= failedAtMs);
  const leaseText = !lease ? 'not asked for yet' : lease.error === undefined ? `renewed ${ago(nowMs - lease.atMs)} ago` : lease.error;
  return [
    {
      part: 'API server',
      well,
      text: answeredAtMs === undefined ? 'has not answered yet' : `${well ? 'answered' : 'last answered'} ${ago(nowMs - answeredAtMs)} ago`,
    },
    { part: 'lease', well: lease?.error === undefined, text: leaseText },
  ];
}

function pressurePart(pressures: readonly string[], known: number): Part {
  return {
    part: 'pressure',
    well: pressures.length === 0,
    text: pressures.length > 0 ? pressures.join(', ') : known > 0 ? 'none' : 'not watched',
  };
}

function diskParts(usage: NodeUsage | undefined): readonly Part[] {
  const one = (part: string, fs: FilesystemStats | undefined): readonly Part[] => {
    const { availableBytes, capacityBytes, inodesFree } = fs ?? {};
    if (availableBytes === undefined || capacityBytes === undefined) return [];
    const percent = Math.round((100 * availableBytes) / Math.max(1, capacityBytes));
    const inodes = inodesFree === undefined ? '' : `, ${inodesFree} inodes free`;
    return [{ part, well: percent >= 5, text: `${size(availableBytes)} of ${size(capacityBytes)} free (${percent} %)${inodes}` }];
  };
  return [...one('disk', usage?.fs), ...one('image disk', usage?.imageFs)];
}

function memoryPart(usage: NodeUsage | undefined): readonly Part[] {
  const { availableBytes, workingSetBytes } = usage?.memory ?? {};
  if (availableBytes === undefined || workingSetBytes === undefined) return [];
  return [{ part: 'memory', well: true, text: `${size(availableBytes)} available, ${size(workingSetBytes)} in use` }];
}

function podsPart({ pods }: NodeFacts): Part {
  const text = Object.entries(pods)
    .map(([state, count]) => `${count} ${state}`)
    .join(', ');
  return { part: 'pods', well: (pods['sick'] ?? 0) === 0, text: text === '' ? 'none' : text };
}

function size(bytes: number): string {
  return bytes >= 1024 ** 3 ? `${(bytes / 1024 ** 3).toFixed(1)} GiB` : `${Math.round(bytes / 1024 ** 2)} MiB`;
}

function ago(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1000));
  return seconds < 120 ? `${seconds} s` : `${Math.round(seconds / 60)} min`;
}
