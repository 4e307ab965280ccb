import type { ExplainedContainer } from '../../src/model/explanation.ts';
import type { ReconciledAction, StreamEntry } from '../../src/model/stream-entry.ts';

export type SpanKind = 'sandbox' | 'pull' | 'init' | 'run' | 'wait' | 'stop';

/** Something that took a while. */
export interface Span {
  readonly kind: SpanKind;
  readonly fromMs: number;
  /** Undefined: it goes on. */
  readonly toMs: number | undefined;
  readonly what: string;
}

/** Something that happened at a moment. */
export interface Mark {
  readonly kind: 'probe-well' | 'probe-sick' | 'exit' | 'warning';
  readonly atMs: number;
  readonly what: string;
}

/** What happened with one container, or with the pod's sandbox. */
export interface Lane {
  readonly name: string;
  readonly spans: readonly Span[];
  readonly marks: readonly Mark[];
}

const SANDBOX = 'sandbox';

/** One lane, as it is read from the entries. At most one span of it is under way. */
class OpenLane implements Lane {
  readonly name: string;
  readonly spans: Span[] = [];
  readonly marks: Mark[] = [];
  #open: Omit<Span, 'toMs'> | undefined;

  constructor(name: string) {
    this.name = name;
  }

  get open(): SpanKind | undefined {
    return this.#open?.kind;
  }

  begin(kind: SpanKind, fromMs: number, what: string): void {
    this.end(fromMs);
    this.#open = { kind, fromMs, what };
  }

  /** What is under way; of another kind than these, if some are named, it goes on. */
  end(toMs: number, ...kinds: readonly SpanKind[]): boolean {
    if (this.#open === undefined || (kinds.length > 0 && !kinds.includes(this.#open.kind))) return false;
    this.spans.push({ ...this.#open, toMs: Math.max(toMs, this.#open.fromMs) });
    this.#open = undefined;
    return true;
  }

  /** It had ended by then, which is known only now: it may run again already. False: that was known. */
  endedBy(atMs: number): boolean {
    if (this.#open !== undefined && this.#open.fromMs < atMs) return this.end(atMs, 'run', 'init');
    const last = this.spans.findLastIndex(({ kind }) => kind === 'run' || kind === 'init');
    const span = this.spans[last];
    if (span === undefined || span.fromMs >= atMs || span.toMs === undefined || span.toMs <= atMs) return false;
    this.spans[last] = { ...span, toMs: atMs };
    return true;
  }

  add(span: Span): void {
    this.spans.push(span);
  }

  mark(kind: Mark['kind'], atMs: number, what: string): void {
    this.marks.push({ kind, atMs, what });
  }

  /** Nothing comes any more, for now. */
  close(): void {
    if (this.#open !== undefined) this.spans.push({ ...this.#open, toMs: undefined });
    this.#open = undefined;
    this.spans.sort((a, b) => a.fromMs - b.fromMs);
  }
}

/** A pod's story as a picture: what each of its containers did when. `entries` are the pod's own, oldest first; `isOver`: nothing of it runs any more. */
export function podLanes(
  entries: readonly StreamEntry[],
  containers: readonly Pick<ExplainedContainer, 'name' | 'kind'>[],
  isOver: boolean,
): readonly Lane[] {
  const kinds = new Map(containers.map(({ name, kind }) => [name, kind]));
  const lanes = new Map<string, OpenLane>([SANDBOX, ...kinds.keys()].map((name) => [name, new OpenLane(name)]));
  const lane = (name: string): OpenLane => {
    const known = lanes.get(name) ?? new OpenLane(name);
    lanes.set(name, known);
    return known;
  };
  /** What comes next begins when init containers have ended. */
  const endInit = (atMs: number, but: string): void => {
    for (const each of lanes.values()) if (each.name !== but) each.end(atMs, 'init');
  };
  for (const entry of entries) {
    if (entry.stream === 'events' && entry.message === 'event')
      readEvent(entry, { lane, endInit, isInit: (name) => kinds.get(name) === 'init' });
    else if (entry.stream === 'probes' && entry.message === 'probe') readProbe(entry, lane);
    else if (entry.stream === 'reconcile' && entry.message === 'reconciled') readLook(entry, lane);
  }
  const last = entries.at(-1)?.atMs ?? 0;
  for (const each of lanes.values()) {
    if (isOver) each.end(last);
    each.close();
  }
  return Array.from(lanes.values()).filter(({ spans, marks }) => spans.length > 0 || marks.length > 0);
}

interface Reading {
  readonly lane: (name: string) => OpenLane;
  readonly endInit: (atMs: number, but: string) => void;
  readonly isInit: (name: string) => boolean;
}

function readEvent({ atMs, fields }: StreamEntry, { lane, endInit, isInit }: Reading): void {
  const [container, reason, message] = [text(fields['container']), text(fields['reason']), text(fields['message'])];
  const own = lane(container === '' ? SANDBOX : container);
  switch (reason) {
    case 'Pulling':
      endInit(atMs, container);
      own.begin('pull', atMs, message);
      return;
    case 'Pulled':
      endInit(atMs, container);
      own.end(atMs, 'pull', 'wait');
      return;
    case 'Started':
      own.begin(isInit(container) ? 'init' : 'run', atMs, message);
      return;
    case 'BackOff':
      if (own.open !== 'wait') {
        if (own.end(atMs, 'run', 'init')) own.mark('exit', atMs, message);
        own.begin('wait', atMs, message);
      }
      return;
    case 'Killing':
      own.begin('stop', atMs, message);
      return;
    default:
      if (fields['type'] !== 'Warning') return;
      if (reason === 'Failed') own.end(atMs, 'pull');
      // A probe has its own entry.
      if (reason !== 'Unhealthy') own.mark('warning', atMs, `${reason}: ${message}`);
  }
}

function readProbe({ atMs, fields }: StreamEntry, lane: Reading['lane']): void {
  const [container, probe, outcome, message] = ['container', 'probe', 'outcome', 'message'].map((name) => text(fields[name]));
  if (container === undefined || container === '') return;
  const what = `${probe} probe: ${outcome}${message === '' ? '' : `: ${message}`}`;
  lane(container).mark(outcome === 'success' ? 'probe-well' : 'probe-sick', atMs, what);
}

/** Each action ended when those after it began. */
function readLook({ atMs, fields }: StreamEntry, lane: Reading['lane']): void {
  const beganMs = atMs - (typeof fields['totalMs'] === 'number' ? fields['totalMs'] : 0);
  const because: readonly unknown[] = Array.isArray(fields['because']) ? fields['because'] : [];
  for (const reason of because) {
    const [, name, code] = /^(?:init )?container (\S+) exited with code (-?\d+)/.exec(text(reason)) ?? [];
    if (name === undefined) continue;
    const own = lane(name);
    // What was said of this end before is not said again.
    if (own.endedBy(beganMs)) own.mark('exit', beganMs, `exited with code ${code}`);
  }
  const actions: readonly ReconciledAction[] = Array.isArray(fields['actions']) ? fields['actions'] : [];
  let endMs = atMs;
  for (const { do: what, tookMs = 0, error, name } of actions.toReversed()) {
    const fromMs = endMs - tookMs;
    if (what === 'runSandbox') {
      const said = error === undefined ? `sandbox started in ${Math.round(tookMs)} ms` : `sandbox not started: ${error}`;
      lane(SANDBOX).add({ kind: 'sandbox', fromMs, toMs: endMs, what: said });
      if (error !== undefined) lane(SANDBOX).mark('warning', endMs, said);
    } else if (what === 'stopContainer' && name !== undefined) {
      lane(name).end(endMs, 'run', 'init', 'stop');
    }
    endMs = fromMs;
  }
}

const text = (value: unknown): string => (typeof value === 'string' ? value : '');
