import { isDeepStrictEqual } from 'node:util';
import { silentLogger } from '../../../src/base/logger.ts';
import type { Pod, SourceName } from '../../../src/model/pod.ts';
import type { PodOperation, PodUpdate } from '../../../src/model/pod-update.ts';
import { type NotificationMode, PodConfig } from '../../../src/agent/mux/pod-config.ts';

interface Input {
  readonly mode: NotificationMode;
  readonly configuredSources: readonly SourceName[];
  readonly steps: readonly { readonly op: PodOperation | 'SYNC'; readonly source: SourceName; readonly pods?: readonly Pod[] }[];
}

const DAY_MS = 86_400_000;

/** Each step happens on a day of its own, so that the first-seen annotation tells which. */
export function run({ mode, configuredSources, steps }: Input): unknown {
  let step = 0;
  let events: string[] = [];
  let updates: PodUpdate[] = [];
  const heard = new Set<string>();
  const config = new PodConfig({
    mode,
    clock: { now: () => step * DAY_MS },
    events: { record: (_about, type, reason, message) => events.push(`${type} ${reason} ${message}`) },
    log: silentLogger,
  });
  for (const source of configuredSources) config.channel(source);
  config.updates.subscribe((update) => {
    updates.push(update);
    heard.add(update.source);
  });
  const everything = new Set<string>(configuredSources);
  const outSteps = steps.map(({ op, source, pods = [] }, index) => {
    [step, events, updates] = [index, [], []];
    if (op === 'SYNC') config.sync();
    else config.merge(source, op, pods);
    return {
      updates: updates.map(({ op: out, source: from, pods: list }) => ({ op: out, source: from, pods: list.map(show) })),
      ...(events.length > 0 ? { events } : {}),
      sourcesSeen: [...config.sourcesSeen].sort(),
      seenAllSources: config.seenAllSources(everything),
      sourcesReady: config.seenAllSources(heard),
    };
  });
  const finalState = config
    .mergedState()
    .map(({ metadata: m }) => `${m.annotations?.['kubernetes.io/config.source']}:${m.uid}:${m.namespace}/${m.name}`);
  return { steps: outSteps, finalState: finalState.sort() };
}

function show({ metadata: m, spec, status }: Pod): Record<string, unknown> {
  return {
    uid: m.uid,
    name: `${m.namespace}/${m.name}`,
    labels: m.labels,
    annotations: Object.fromEntries(
      Object.entries(m.annotations ?? {}).map(([k, v]) => [k, k === 'kubernetes.io/config.seen' ? seen(v) : v]),
    ),
    image: spec?.containers?.[0]?.image,
    activeDeadlineSeconds: spec?.activeDeadlineSeconds,
    deletionTimestamp: m.deletionTimestamp,
    deletionGracePeriodSeconds: m.deletionGracePeriodSeconds,
    phase: status?.phase,
  };
}

const seen = (at: string): string => `seen@step${Date.parse(at) / DAY_MS}`;
/** Pods inside one update have no order that could be relied on. */
export function same(actual: unknown, expected: unknown): boolean {
  return isDeepStrictEqual(unordered(actual), unordered(expected));
}

function unordered(value: unknown, key = ''): unknown {
  if (Array.isArray(value)) {
    const items = value.map((item) => unordered(item));
    return key === 'pods' ? items.map((item) => JSON.stringify(item)).sort() : items;
  }
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).filter(([, v]) => v !== undefined && v !== null);
  return Object.fromEntries(entries.map(([k, v]) => [k, unordered(v, k)] as const).sort(([a], [b]) => (a < b ? -1 : 1)));
}
