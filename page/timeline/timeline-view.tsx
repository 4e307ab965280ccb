import type { JSX } from 'preact';
import { useMemo, useRef, useState } from 'preact/hooks';
import type { Explanation } from '../../src/model/explanation.ts';
import type { StreamEntry } from '../../src/model/stream-entry.ts';
import { clockTime, duration, exactTime, shown } from '../format.ts';
import { useAgentNow } from '../views/times.tsx';
import { useWidth } from '../views/use-width.ts';
import { type Lane, type Mark, podLanes, type Span } from './pod-lanes.ts';
import { localOffsetMs, timeTicks } from './time-axis.ts';

const LANE_PX = 34;
const AXIS_PX = 26;
const BAR_PX = 14;
const LEAST_MS = 2_000;

/** The last so many milliseconds, or the pod's first moments, or all. */
type Range = 'start' | 'all' | number;
const ranges: readonly (readonly [Range, string])[] = [
  ['start', 'Start'],
  [60_000, '1 min'],
  [600_000, '10 min'],
  [3_600_000, '1 h'],
  ['all', 'All'],
];

const kinds = { sandbox: 'sandbox', pull: 'pull', init: 'init', run: 'runs', wait: 'back-off', stop: 'stops' } as const;

/** A pod's story on a time axis: pulls, sandbox, init, runs, probes, ends and back-offs. */
export function TimelineView({
  entries,
  explanation,
}: {
  readonly entries: readonly StreamEntry[];
  readonly explanation: Explanation;
}): JSX.Element {
  const { containers, state, uid } = explanation;
  const box = useRef<HTMLDivElement>(null);
  const width = useWidth(box);
  const [range, setRange] = useState<Range>(600_000);
  const [at, setAt] = useState<number>();
  const isOver = state === 'gone' || state === 'ended';
  const own = useMemo(() => entries.filter((entry) => entry.uid === undefined || entry.uid === uid), [entries, uid]);
  const lanes = useMemo(() => podLanes(own, containers, isOver), [own, containers, isOver]);
  const nowMs = useAgentNow();
  const [fromMs, toMs] = windowOf(range, lanes, nowMs, isOver);
  const items = useMemo(() => itemsOf(lanes), [lanes]);
  if (lanes.length === 0) return <p class="muted">Nothing is known of its past.</p>;
  const x = (ms: number): number => Math.max(-10, Math.min(width + 10, ((ms - fromMs) / (toMs - fromMs)) * width));
  const isSeen = (from: number, to = from): boolean => to >= fromMs && from <= toMs;
  const height = lanes.length * LANE_PX + AXIS_PX;
  const chosen = at === undefined ? undefined : items[Math.min(at, items.length - 1)];
  const move = (by: number): void => setAt(Math.max(0, Math.min(items.length - 1, at === undefined ? items.length - 1 : at + by)));
  const point = (event: MouseEvent): void => {
    const rect = box.current?.getBoundingClientRect();
    if (rect === undefined) return;
    const ms = fromMs + ((event.clientX - rect.left) / width) * (toMs - fromMs);
    const lane = lanes[Math.floor((event.clientY - rect.top) / LANE_PX)];
    const near = nearest(items, lane, ms, ((toMs - fromMs) / width) * 8, nowMs);
    setAt(near < 0 ? undefined : near);
  };
  return (
    <figure class="timeline">
      <div class="ranges" role="group" aria-label="What is shown of the time">
        {ranges.map(([value, name]) => (
          <button key={value} type="button" class="chip" aria-pressed={range === value} onClick={() => setRange(value)}>
            {name}
          </button>
        ))}
      </div>
      <div
        ref={box}
        class="timeline-box"
        tabIndex={0}
        role="group"
        aria-label="Timeline. The arrow keys lead from one thing that happened to the next."
        onKeyDown={(event) => {
          if (event.key !== 'ArrowLeft' && event.key !== 'ArrowRight') return;
          event.preventDefault();
          move(event.key === 'ArrowLeft' ? -1 : 1);
        }}
        onPointerMove={point}
        onPointerLeave={() => setAt(undefined)}
      >
        <svg width={width} height={height} role="img" aria-label={summaryOf(lanes)}>
          {timeTicks(fromMs, toMs, Math.max(2, Math.floor(width / 110)), localOffsetMs(nowMs)).map(({ atMs, text }) => (
            <g key={atMs}>
              <line class="grid" x1={x(atMs)} x2={x(atMs)} y1={0} y2={height - AXIS_PX} />
              {x(atMs) > 24 && x(atMs) < width - 24 && (
                <text class="tick" x={x(atMs)} y={height - 8} text-anchor="middle">
                  {text}
                </text>
              )}
            </g>
          ))}
          {lanes.map((lane, row) => (
            <g key={lane.name} transform={`translate(0 ${row * LANE_PX})`}>
              <line class="grid" x1={0} x2={width} y1={LANE_PX} y2={LANE_PX} />
              {lane.spans
                .filter((span) => isSeen(span.fromMs, span.toMs ?? nowMs))
                .map((span) => (
                  <rect
                    key={`${span.kind} ${span.fromMs}`}
                    class={`span span-${span.kind}${chosen?.of === span ? ' chosen' : ''}`}
                    x={x(span.fromMs)}
                    y={15}
                    width={Math.max(2, x(span.toMs ?? nowMs) - x(span.fromMs))}
                    height={BAR_PX}
                    rx={2}
                  />
                ))}
              {spaced(
                lane.marks.filter((mark) => isSeen(mark.atMs)),
                x,
              ).map((mark) => (
                <path
                  key={`${mark.kind} ${mark.atMs}`}
                  class={`mark mark-${mark.kind}${chosen?.of === mark ? ' chosen' : ''}`}
                  d={shapeOf(mark, x(mark.atMs))}
                />
              ))}
              <text class="lane-name" x={2} y={11}>
                {shown(lane.name)}
              </text>
            </g>
          ))}
        </svg>
      </div>
      <figcaption aria-live="polite">
        {chosen === undefined ? (
          <span class="legend" aria-hidden="true">
            {Object.entries(kinds).map(([kind, name]) => (
              <span key={kind}>
                <i class={`key key-${kind}`} /> {name}
              </span>
            ))}
            <span>
              <i class="key key-well" /> probe
            </span>
            <span>
              <i class="key key-sick" /> fault
            </span>
          </span>
        ) : (
          <span>
            <span class="mono">{exactTime(chosen.atMs)}</span> {shown(chosen.lane)}: {shown(wordsOf(chosen, nowMs))}
          </span>
        )}
      </figcaption>
    </figure>
  );
}

interface Item {
  readonly lane: string;
  readonly atMs: number;
  readonly of: Span | Mark;
}

/** All that happened, in its order. */
const itemsOf = (lanes: readonly Lane[]): readonly Item[] =>
  lanes
    .flatMap(({ name, spans, marks }) => [
      ...spans.map((of): Item => ({ lane: name, atMs: of.fromMs, of })),
      ...marks.map((of): Item => ({ lane: name, atMs: of.atMs, of })),
    ])
    .toSorted((a, b) => a.atMs - b.atMs);

function nearest(items: readonly Item[], lane: Lane | undefined, ms: number, reachMs: number, nowMs: number): number {
  let best = -1;
  let distance = reachMs;
  for (const [at, { lane: name, of }] of items.entries()) {
    if (name !== lane?.name) continue;
    const away = 'fromMs' in of ? Math.max(0, of.fromMs - ms, ms - (of.toMs ?? nowMs)) : Math.abs(of.atMs - ms) - reachMs / 4;
    if (away <= distance) [best, distance] = [at, away];
  }
  return best;
}

function windowOf(range: Range, lanes: readonly Lane[], nowMs: number, isOver: boolean): readonly [number, number] {
  const spans = lanes.flatMap((lane) => lane.spans);
  const marks = lanes.flatMap((lane) => lane.marks);
  const first = Math.min(nowMs, ...spans.map(({ fromMs }) => fromMs), ...marks.map(({ atMs }) => atMs));
  const last = isOver ? Math.max(first, ...spans.map(({ toMs, fromMs }) => toMs ?? fromMs), ...marks.map(({ atMs }) => atMs)) : nowMs;
  if (typeof range === 'number') return wide(Math.max(first - LEAST_MS, last - range), last);
  if (range === 'all') return wide(first, last);
  const started = spans.filter(({ kind }) => kind === 'run').map(({ fromMs }) => fromMs);
  const until = Math.min(last, ...started);
  return wide(first, until + (until - first) / 10);
}

/** With a little room on both sides. */
function wide(fromMs: number, toMs: number): readonly [number, number] {
  const room = Math.max(LEAST_MS, toMs - fromMs) / 50;
  return [fromMs - room, Math.max(toMs, fromMs + LEAST_MS) + room];
}

/** Marks that would be drawn over each other are one; a fault is never left out for a success. */
function spaced(marks: readonly Mark[], x: (ms: number) => number): readonly Mark[] {
  const kept = new Map<string, Mark>();
  for (const mark of marks) kept.set(`${mark.kind} ${Math.round(x(mark.atMs) / 3)}`, mark);
  return [...kept.values()];
}

function shapeOf({ kind }: Mark, x: number): string {
  switch (kind) {
    case 'probe-well':
    case 'probe-sick':
      return `M${x} 17v10`;
    case 'exit':
      return `M${x - 4} 18l8 8m0 -8l-8 8`;
    case 'warning':
      return `M${x} 15l5 9h-10z`;
    default:
      return kind satisfies never;
  }
}

function wordsOf({ of }: Item, nowMs: number): string {
  if (!('fromMs' in of)) return of.what;
  const took = duration((of.toMs ?? nowMs) - of.fromMs);
  return `${kinds[of.kind]} ${of.toMs === undefined ? `for ${took} so far` : `for ${took}, until ${clockTime(of.toMs)}`}. ${of.what}`;
}

/** For who does not see it. */
function summaryOf(lanes: readonly Lane[]): string {
  return lanes
    .map(({ name, spans, marks }) => {
      const runs = spans.filter(({ kind }) => kind === 'run').length;
      const faults = marks.filter(({ kind }) => kind !== 'probe-well').length;
      return shown(`${name}: ${spans.length} spans, ${runs} runs, ${faults} faults`);
    })
    .join('; ');
}
