import type { Clock } from './clock.ts';

/** What `ask` says, asked again only once the last answer is `ms` old. For what is asked often and costs too much to ask each time. */
export function rememberedFor<T>(ms: number, clock: Pick<Clock, 'monotonicMs'>, ask: () => T): () => T {
  let last: { readonly answer: T; readonly atMs: number } | undefined;
  return () => {
    const nowMs = clock.monotonicMs();
    if (last === undefined || nowMs - last.atMs >= ms) last = { answer: ask(), atMs: nowMs };
    return last.answer;
  };
}
