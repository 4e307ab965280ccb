import { printable } from '../base/printable.ts';
import { wrapped } from '../base/wrapped.ts';
import type { Cause, ExplainedContainer, ExplainedNode, ExplainedPull, ExplainedState, Explanation } from '../model/explanation.ts';
import { humanDuration } from './human-duration.ts';

const WIDTH = 80;
const MOST_EVENTS = 8;

const titles: Readonly<Record<ExplainedState, string>> = {
  well: 'is as declared',
  waiting: 'waits',
  sick: 'is not well',
  ended: 'has ended',
  stopping: 'is stopping',
  gone: 'is gone',
  refused: 'is refused',
};

/** For a terminal of 80 columns; the first lines name the true cause. Nothing in it steers the terminal. */
export function explanationText(explanation: Explanation, nowMs: number): string {
  const { pod, state, phase, sinceMs, causes } = explanation;
  const inBrackets = [phase, sinceMs === undefined ? undefined : `for ${humanDuration(nowMs - sinceMs)}`].filter(
    (part) => part !== undefined,
  );
  const head = `${pod} ${titles[state]}${inBrackets.length > 0 ? ` (${inBrackets.join(' ')})` : ''}`;
  const [first, ...others] = causes;
  const sections: (readonly string[])[] = [
    [...line(head, ''), ...(first ? causeLines(first, nowMs, '') : [])],
    ...others.map((cause) => causeLines(cause, nowMs, 'Also: ')),
    factLines(explanation, nowMs),
    containerLines(explanation.containers, nowMs),
    decisionLines(explanation, nowMs),
    eventLines(explanation, nowMs),
  ];
  return `${sections
    .filter((lines) => lines.length > 0)
    .map((lines) => lines.join('\n'))
    .join('\n\n')}\n`;
}

export function nodeText({ name, ready, causes, parts }: ExplainedNode): string {
  const nowMs = 0;
  const faults = causes.filter(({ kind }) => kind !== 'note').length;
  const head = `node ${name} is ${ready ? 'ready' : 'not ready'}${ready && faults > 0 ? ', and not well' : ''}`;
  const timeless = causes.map(({ sinceMs: _since, untilMs: _until, ...cause }) => cause);
  const sections = [
    [...line(head, ''), ...timeless.flatMap((cause) => causeLines(cause, nowMs, ''))],
    parts.flatMap(({ part, well, text }) => line(`${well ? ' ' : '!'} ${part}: ${text}`, '    ')),
  ];
  return `${sections.map((lines) => lines.join('\n')).join('\n\n')}\n`;
}

function causeLines(
  { text, detail, sinceMs, untilMs, advice }: Omit<Cause, 'code' | 'kind'>,
  nowMs: number,
  prefix: string,
): readonly string[] {
  const since = sinceMs === undefined ? [] : [`since ${clockTime(sinceMs)} (${humanDuration(Math.max(0, nowMs - sinceMs))})`];
  const until =
    untilMs === undefined
      ? []
      : [untilMs > nowMs ? `until ${clockTime(untilMs)} (in ${humanDuration(untilMs - nowMs)})` : `due since ${clockTime(untilMs)}`];
  const times = [...since, ...until].join(', ');
  return [
    ...line(`${prefix}${sentence(text)}`, '  '),
    ...(times === '' ? [] : line(`  ${times}`, '  ')),
    ...(advice === undefined ? [] : line(`  To do: ${advice}`, '    ')),
    ...(detail === undefined || text.includes(detail) ? [] : detail.split('\n').flatMap((each) => line(`  As told: ${each}`, '    '))),
  ];
}

function factLines({ origin, uid, underWay, nextLookMs, state }: Explanation, nowMs: number): readonly string[] {
  const { source, where, line: at } = origin;
  const place = where === undefined ? (source === 'api' ? 'the API server' : source) : `${where}${at === undefined ? '' : `:${at}`}`;
  return [
    ...(place === undefined ? [] : line(`From: ${place}${uid === undefined ? '' : `, uid ${uid}`}`, '  ')),
    ...(underWay ? line(`Under way: ${underWay.what}, for ${humanDuration(nowMs - underWay.sinceMs)}`, '  ') : []),
    ...(state === 'gone' || state === 'refused' || underWay
      ? []
      : line(
          nextLookMs === undefined
            ? 'Looked at again: on change'
            : `Looked at again: ${clockTime(nextLookMs)} (in ${humanDuration(Math.max(0, nextLookMs - nowMs))}), or on change`,
          '  ',
        )),
  ];
}

function containerLines(containers: readonly ExplainedContainer[], nowMs: number): readonly string[] {
  return containers.flatMap((each) => {
    const { name, kind, image, desired, observed, sinceMs, restarts, isWell, pull, probes, lastLines } = each;
    const since = sinceMs === undefined ? '' : ` for ${humanDuration(Math.max(0, nowMs - sinceMs))}`;
    const again = restarts === 0 ? '' : `, ${restarts} ${restarts === 1 ? 'restart' : 'restarts'}`;
    return [
      ...line(`${isWell ? ' ' : '!'} ${kind === 'app' ? 'container' : kind} ${name}${image === undefined ? '' : ` (${image})`}`, '    '),
      ...line(`    wanted: ${desired}; found: ${observed}${since}${again}`, '      '),
      ...(pull ? line(`    pull: ${pullText(pull, nowMs)}`, '      ') : []),
      ...probes.flatMap((probe) =>
        line(`    ${probe.kind} probe: ${probe.tries.map(({ outcome, atMs }) => `${outcome} ${clockTime(atMs)}`).join(', ')}`, '      '),
      ),
      ...probes.flatMap(({ kind: of, tries }) => {
        const last = tries.at(-1);
        return last && last.message !== '' && last.outcome !== 'success' ? line(`    ${of} probe said: ${last.message}`, '      ') : [];
      }),
      ...(lastLines ? ['    its last lines:', ...lastLines.flatMap((text) => line(`      | ${text}`, '      | '))] : []),
    ];
  });
}

function pullText({ stage, percent, msLeft, attempt, retryAtMs, sinceMs }: ExplainedPull, nowMs: number): string {
  const parts = [
    stage,
    ...(percent === undefined ? [] : [`${bar(percent)} ${percent} %`]),
    ...(msLeft === undefined ? [] : [`about ${humanDuration(msLeft)} left`]),
    ...(attempt === undefined ? [] : [`attempt ${attempt}`]),
    ...(retryAtMs === undefined ? [] : [`next try ${clockTime(retryAtMs)}`]),
    `for ${humanDuration(Math.max(0, nowMs - sinceMs))}`,
  ];
  return parts.join(', ');
}

const bar = (percent: number): string => `[${'#'.repeat(Math.round(percent / 5)).padEnd(20, '.')}]`;

function decisionLines({ decision }: Explanation, nowMs: number): readonly string[] {
  if (!decision) return [];
  const { atMs, woken, because, did, failed } = decision;
  return [
    ...line(
      `Last decision: ${clockTime(atMs)} (${humanDuration(Math.max(0, nowMs - atMs))} ago), woken by: ${woken.join(', ') || 'nothing'}`,
      '  ',
    ),
    ...because.flatMap((why) => line(`  because ${why}`, '    ')),
    ...did.flatMap((what) => line(`  did: ${what}`, '    ')),
    ...(failed === undefined ? [] : line(`  failed: ${failed}`, '    ')),
  ];
}

function eventLines({ events }: Explanation, nowMs: number): readonly string[] {
  if (events.length === 0) return [];
  const shown = events.slice(-MOST_EVENTS);
  return [
    events.length > shown.length ? `Events (the last ${shown.length} of ${events.length}):` : 'Events:',
    ...shown.flatMap(({ atMs, times, reason, message }) =>
      line(`  ${humanDuration(Math.max(0, nowMs - atMs))} ago${times > 1 ? `, ${times} times` : ''}: ${reason}: ${message}`, '    '),
    ),
  ];
}

const sentence = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

/** "12:03:10", by the local clock. */
function clockTime(ms: number): string {
  const date = new Date(ms);
  return [date.getHours(), date.getMinutes(), date.getSeconds()].map((part) => String(part).padStart(2, '0')).join(':');
}

/** What others wrote becomes harmless here; lines after the first begin with `indent`. */
const line = (text: string, indent: string): readonly string[] => wrapped(printable(text), WIDTH, indent);
