import type { JSX } from 'preact';
import { createContext } from 'preact';
import { useContext } from 'preact/hooks';
import { clockTime, wholeDuration } from '../format.ts';
import { useNow } from './use-now.ts';

/** By how much the agent's clock is ahead of the browser's. Milliseconds. */
export const AheadMs = createContext(0);

/** The agent's date, again each second. */
export const useAgentNow = (): number => useNow() + useContext(AheadMs);

/** "for 3 min", counting. */
export function Since({ atMs, words = '' }: { readonly atMs: number; readonly words?: string }): JSX.Element {
  const nowMs = useAgentNow();
  return (
    <time dateTime={isoOf(atMs)} title={`since ${clockTime(atMs)}`}>
      {words}
      {wholeDuration(nowMs - atMs)}
    </time>
  );
}

/** "in 12 s", counting down; "now" once it is due. */
export function Until({ atMs }: { readonly atMs: number }): JSX.Element {
  const leftMs = atMs - useAgentNow();
  return (
    <time dateTime={isoOf(atMs)} title={`at ${clockTime(atMs)}`}>
      {leftMs > 0 ? `in ${wholeDuration(leftMs)}` : 'now'}
    </time>
  );
}

/** A date that no calendar has is none here either. */
const isoOf = (ms: number): string => (Math.abs(ms) <= 8.64e15 ? new Date(ms).toISOString() : '');
