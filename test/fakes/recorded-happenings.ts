import type { HappeningKinds, Happenings } from '../../src/ports/happenings.ts';

export type Happened = {
  readonly [K in keyof HappeningKinds]: { readonly name: K; readonly what: HappeningKinds[K] };
}[keyof HappeningKinds];

/** Keeps what is told, in order. */
export class RecordedHappenings {
  readonly happened: Happened[] = [];
  readonly tell: Happenings = new Proxy({} as Happenings, {
    get: (_, name) => (what: unknown) => void this.happened.push({ name, what } as Happened),
  });

  /** What was told of one kind. */
  of<K extends keyof HappeningKinds>(name: K): readonly HappeningKinds[K][] {
    return this.happened.flatMap((each) => (each.name === name ? [each.what as HappeningKinds[K]] : []));
  }
}
