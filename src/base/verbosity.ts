import { globMatches } from './glob.ts';

/** What `--vmodule` says of some streams. */
export interface StreamLevel {
  /** Of a stream's name: with `*`, `?` and `[a-z]`. */
  readonly pattern: string;
  readonly level: number;
}

/** How much is logged: `--v`, and `--vmodule` where that says more. Both may be changed at any time. */
export class Verbosity {
  #level: number;
  #streams: readonly StreamLevel[];
  /** Streams are the agent's own: they are few. */
  readonly #known = new Map<string, number>();

  constructor(level: number, streams: readonly StreamLevel[] = []) {
    this.#level = level;
    this.#streams = streams;
  }

  set(level: number): void {
    this.#level = level;
    this.#known.clear();
  }

  /** In place of those before. */
  setStreams(streams: readonly StreamLevel[]): void {
    this.#streams = streams;
    this.#known.clear();
  }

  /** Up to which level lines of the stream are printed. Of several patterns for it the first counts, as in klog. */
  of(stream: string): number {
    let level = this.#known.get(stream);
    if (level === undefined) {
      level = Math.max(this.#level, this.#streams.find(({ pattern }) => globMatches(pattern, stream))?.level ?? this.#level);
      this.#known.set(stream, level);
    }
    return level;
  }
}

const MAX_INT32 = 2 ** 31 - 1;

/** Of "reconcile=5,le*=2"; nothing between commas is passed over. Undefined: it cannot be meant. */
export function parseStreamLevels(text: string): readonly StreamLevel[] | undefined {
  const pairs = text.split(',').filter((pair) => pair !== '');
  const levels = pairs.map((pair) => {
    const [, pattern, level] = /^([^=]+)=(\d{1,10})$/.exec(pair) ?? [];
    return { pattern: pattern ?? '', level: Number(level) };
  });
  return levels.every(({ level }) => level <= MAX_INT32) ? levels : undefined;
}
