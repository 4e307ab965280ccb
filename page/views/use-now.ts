import { useEffect, useState } from 'preact/hooks';

const EVERY_MS = 1_000;
const listeners = new Set<(nowMs: number) => void>();
let timer: ReturnType<typeof setInterval> | undefined;

/** The browser's date, again each second: one timer for all that show a time. */
export function useNow(): number {
  const [nowMs, setNow] = useState(() => Date.now());
  useEffect(() => {
    listeners.add(setNow);
    timer ??= setInterval(() => {
      const now = Date.now();
      for (const listener of listeners) listener(now);
    }, EVERY_MS);
    return () => {
      listeners.delete(setNow);
      if (listeners.size > 0) return;
      clearInterval(timer);
      timer = undefined;
    };
  }, []);
  return nowMs;
}
