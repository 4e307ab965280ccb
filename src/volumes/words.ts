import { printable } from '../base/printable.ts';

const MOST = 1_000;

/** What a program said, for a message: on one line, and of a length. */
export function words(text: string): string {
  const line = printable(text.trim().replaceAll(/\s*\n\s*/g, ' '));
  return line.length > MOST ? `${line.slice(0, MOST)}…` : line;
}
