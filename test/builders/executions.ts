import { Session } from 'node:inspector/promises';

/** How often each function of the sources, and each branch and loop in it, was run: by "file function from-to". */
export type Executions = ReadonlyMap<string, number>;

/** Counts what runs. To be started before what is counted has first run: what the engine has compiled by then is counted by function only. */
export class ExecutionCounter {
  readonly #session = new Session();

  async start(): Promise<void> {
    this.#session.connect();
    await this.#session.post('Profiler.enable');
    await this.#session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: true });
  }

  /** What was run since the last time. */
  async take(): Promise<Executions> {
    const { result } = await this.#session.post('Profiler.takePreciseCoverage');
    const counts = new Map<string, number>();
    for (const { url, functions } of result) {
      const [, file] = /\/(src\/.*)$/.exec(url) ?? [];
      if (file === undefined || url.includes('/node_modules/')) continue;
      for (const { functionName, ranges } of functions) {
        for (const { startOffset, endOffset, count } of ranges) {
          const place = `${file} ${functionName || '(anonymous)'} ${startOffset}-${endOffset}`;
          counts.set(place, Math.max(count, counts.get(place) ?? 0));
        }
      }
    }
    return counts;
  }

  stop(): void {
    this.#session.disconnect();
  }
}

/** Places that ran more than `times` as often in `more` as in `less`, of those that ran at least `atLeast` times, worst first. */
export function grewMoreThan(times: number, less: Executions, more: Executions, atLeast: number): readonly string[] {
  return (
    [...more]
      .map(([place, count]) => ({ place, count, before: less.get(place) ?? 0 }))
      // A branch that runs as often as what it stands in is not told apart.
      .filter(({ count, before }) => before > 0 && count >= atLeast && count > times * before)
      .toSorted((a, b) => b.count - a.count)
      .map(({ place, count, before }) => `${place}: ${before} → ${count}`)
  );
}
