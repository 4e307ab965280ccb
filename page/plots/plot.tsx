import type { JSX } from 'preact';
import { useRef, useState } from 'preact/hooks';
import { clockTime } from '../format.ts';
import { localOffsetMs, timeTicks } from '../timeline/time-axis.ts';
import { useWidth } from '../views/use-width.ts';
import { linePath } from './line-path.ts';

export interface PlottedLine {
  readonly name: string;
  /** Null: not known then. */
  readonly values: readonly (number | null)[];
  readonly style: 'a' | 'b' | 'c';
}

export interface PlotProps {
  readonly title: string;
  readonly atMs: readonly number[];
  readonly lines: readonly PlottedLine[];
  /** The top of the axis. */
  readonly most: number;
  readonly show: (value: number) => string;
  readonly toMs: number;
}

const HEIGHT = 132;
const AXIS = 22;
const HOUR_MS = 3_600_000;

/** What was used over the last hour, as lines; the value under the pointer, or the last one, in words. */
export function Plot({ title, atMs, lines, most, show, toMs }: PlotProps): JSX.Element {
  const box = useRef<HTMLDivElement>(null);
  const width = useWidth(box);
  const [chosen, setChosen] = useState<number>();
  const fromMs = toMs - HOUR_MS;
  const at = chosen !== undefined && chosen < atMs.length ? chosen : atMs.length - 1;
  const x = (ms: number): number => ((ms - fromMs) / HOUR_MS) * width;
  const y = (value: number): number => HEIGHT - AXIS - (Math.min(value, most) / (most || 1)) * (HEIGHT - AXIS - 8);
  const point = (clientX: number): void => {
    const left = box.current?.getBoundingClientRect().left ?? 0;
    const ms = fromMs + ((clientX - left) / width) * HOUR_MS;
    let best = 0;
    for (const [index, each] of atMs.entries()) if (Math.abs(each - ms) < Math.abs((atMs[best] ?? 0) - ms)) best = index;
    setChosen(best);
  };
  const words = lines
    .flatMap(({ name, values }) => {
      const value = values[at];
      return value === null || value === undefined ? [] : [`${lines.length > 1 ? `${name} ` : ''}${show(value)}`];
    })
    .join(', ');
  const move = (by: number): void => setChosen(Math.max(0, Math.min(atMs.length - 1, at + by)));
  return (
    <section class="plot">
      <h3>{title}</h3>
      <p class="plot-now" aria-live={chosen === undefined ? 'off' : 'polite'}>
        <b>{words === '' ? 'not known yet' : words}</b>{' '}
        {chosen !== undefined && atMs[at] !== undefined && <span class="muted">at {clockTime(atMs[at])}</span>}
      </p>
      <div
        ref={box}
        class="plot-box"
        tabIndex={0}
        role="group"
        aria-label={`${title} over the last hour. The arrow keys lead from one moment to the next.`}
        onPointerMove={(event) => point(event.clientX)}
        onPointerLeave={() => setChosen(undefined)}
        onBlur={() => setChosen(undefined)}
        onKeyDown={(event) => {
          if (event.key !== 'ArrowLeft' && event.key !== 'ArrowRight') return;
          event.preventDefault();
          move(event.key === 'ArrowLeft' ? -1 : 1);
        }}
      >
        <svg width={width} height={HEIGHT} aria-hidden="true">
          {[0, 0.5, 1].map((part) => (
            <g key={part}>
              <line class="grid" x1={0} x2={width} y1={y(part * most)} y2={y(part * most)} />
              {part > 0 && (
                <text class="tick" x={2} y={y(part * most) + 12}>
                  {show(part * most)}
                </text>
              )}
            </g>
          ))}
          {timeTicks(fromMs, toMs, Math.max(2, Math.floor(width / 90)), localOffsetMs(toMs)).map((tick) => (
            <text key={tick.atMs} class="tick" x={Math.max(18, Math.min(width - 18, x(tick.atMs)))} y={HEIGHT - 6} text-anchor="middle">
              {tick.text}
            </text>
          ))}
          {lines.map(({ name, values, style }) => (
            <path key={name} class={`line line-${style}`} d={linePath(values, (index) => x(atMs[index] ?? toMs), y)} />
          ))}
          {chosen !== undefined && atMs[at] !== undefined && (
            <line class="cursor" x1={x(atMs[at])} x2={x(atMs[at])} y1={0} y2={HEIGHT - AXIS} />
          )}
        </svg>
      </div>
      {lines.length > 1 && (
        <p class="legend" aria-hidden="true">
          {lines.map(({ name, style }) => (
            <span key={name}>
              <i class={`key key-line-${style}`} /> {name}
            </span>
          ))}
        </p>
      )}
    </section>
  );
}
