import { printable } from '../base/printable.ts';
import type { ExplainedInShort, ExplainedPull, ExplainedState } from '../model/explanation.ts';
import { humanDuration } from './human-duration.ts';

export interface ScreenSize {
  readonly columns: number;
  readonly rows: number;
}

/** The worst first: what does not fit is well. */
const order: readonly ExplainedState[] = ['sick', 'refused', 'waiting', 'stopping', 'well', 'ended', 'gone'];
const NAME = 26;
const STATE = 9;
const AGE = 6;
const BAR = 10;

/** What is on the screen: a line a pod, none longer than the screen is wide, nor more than it is high. */
export function watchScreen(pods: readonly ExplainedInShort[], { columns, rows }: ScreenSize, nowMs: number): readonly string[] {
  const sorted = pods.toSorted((a, b) => order.indexOf(a.state) - order.indexOf(b.state) || (a.pod < b.pod ? -1 : a.pod > b.pod ? 1 : 0));
  const counts = order.flatMap((state) => {
    const count = pods.filter((each) => each.state === state).length;
    return count > 0 ? [`${count} ${state}`] : [];
  });
  const room = Math.max(1, rows - 3);
  const shown = sorted.length > room ? sorted.slice(0, room - 1) : sorted;
  return [
    `${pods.length} pods: ${counts.join(', ') || 'none'}`,
    row(['POD', 'STATE', 'SINCE', 'WHAT']),
    ...shown.map((each) => row([each.pod, each.state, sinceOf(each, nowMs), going(each, nowMs)])),
    ...(shown.length < sorted.length ? [`and ${sorted.length - shown.length} more; 'rxlet explain' lists all`] : []),
  ].map((line) => cut(line, columns));
}

/** What is going on, in words and with the time that is left; for a place where nothing is redrawn without that. */
export function going({ cause, pull, phase, restarts }: ExplainedInShort, nowMs?: number): string {
  const again = restarts > 0 ? `, ${restarts} restart${restarts === 1 ? '' : 's'}` : '';
  if (pull && (pull.stage === 'begun' || pull.stage === 'under way')) return `pulling ${nowMs === undefined ? '' : bar(pull)}`.trim();
  if (!cause) return `${phase ?? ''}${again}`;
  const left = nowMs === undefined || cause.untilMs === undefined ? '' : ` (in ${humanDuration(Math.max(0, cause.untilMs - nowMs))})`;
  return `${cause.text}${left}${again}`;
}

function bar({ percent, msLeft }: ExplainedPull): string {
  if (percent === undefined) return '';
  const full = Math.round((Math.min(100, Math.max(0, percent)) / 100) * BAR);
  const left = msLeft === undefined ? '' : `, ${humanDuration(msLeft)} left`;
  return `[${'#'.repeat(full)}${'-'.repeat(BAR - full)}] ${Math.round(percent)} %${left}`;
}

const sinceOf = ({ sinceMs }: ExplainedInShort, nowMs: number): string =>
  sinceMs === undefined ? '' : humanDuration(Math.max(0, nowMs - sinceMs));

function row([pod = '', state = '', age = '', what = '']: readonly string[]): string {
  const columns = [
    [pod, NAME],
    [state, STATE],
    [age, AGE],
  ] as const;
  return `${columns.map(([text, width]) => cut(printable(text), width).padEnd(width)).join(' ')} ${printable(what)}`.trimEnd();
}

/** What does not fit ends in an ellipsis. */
function cut(text: string, width: number): string {
  const characters = Array.from(text);
  return characters.length <= width ? text : `${characters.slice(0, Math.max(0, width - 1)).join('')}…`;
}
