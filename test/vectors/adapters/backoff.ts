import { Backoff } from '../../../src/base/backoff.ts';

interface Op {
  readonly op: 'next' | 'isInBackOffSince' | 'isInBackOffSinceUpdate' | 'get' | 'reset' | 'deleteEntry' | 'gc';
  readonly atMs: number;
  readonly id?: string;
  readonly eventMs?: number;
}
interface Input {
  readonly baseMs: number;
  readonly maxMs: number;
  readonly ops: readonly Op[];
}

export function run({ baseMs, maxMs, ops }: Input): unknown {
  let nowMs = 0;
  const backoff = new Backoff({ clock: { monotonicMs: () => nowMs }, baseMs, maxMs });
  return ops.map(({ op, atMs, id = '', eventMs = 0 }) => {
    nowMs = atMs;
    switch (op) {
      case 'next':
        backoff.next(id, eventMs);
        return backoff.get(id);
      case 'isInBackOffSince':
      case 'isInBackOffSinceUpdate':
        return backoff[op](id, eventMs);
      case 'get':
        return backoff.get(id);
      case 'reset':
      case 'deleteEntry':
        backoff.reset(id);
        return null;
      case 'gc':
        backoff.gc();
        return null;
      default:
        return op satisfies never;
    }
  });
}
