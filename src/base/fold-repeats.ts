import type { Subscription } from 'rxjs';
import type { Clock } from './clock.ts';
import type { LogFields, Logger } from './logger.ts';
import { plainFields } from './plain-fields.ts';

export interface FoldRepeatsOptions {
  readonly clock: Clock;
  /** How long the same line is counted before it is printed again. Milliseconds. */
  readonly windowMs: number;
  /** The first of these that a line has says what it is about: another line about the same ends the counting early. */
  readonly subject?: readonly string[];
  /** Fields that make no line a different one, besides durations. */
  readonly aside?: readonly string[];
  /** Lines remembered at the same time; the oldest gives way. */
  readonly maxLines?: number;
}

export interface FoldingLogger extends Logger {
  /** Prints what was counted, now; for the end of the agent. */
  flush(): void;
}

/** One line as seen, and how often it came again. */
interface Seen {
  readonly subject: string;
  readonly untilMs: number;
  /** How to print it with its latest fields. */
  print: (extra: LogFields) => void;
  repeated: number;
}

/**
 * Prints a line at once when it is new, and counts it while it repeats: again with `repeated=N` and the latest fields when the
 * window ends or a new line about the same subject comes. Lines are the same when stream, level, message and fields are, durations
 * (`…Ms`) aside. Errors are compared by their text.
 */
export function foldRepeats(log: Logger, options: FoldRepeatsOptions): FoldingLogger {
  const folder = new Folder(options);
  return { ...foldingLogger(log, folder, '', {}), flush: () => folder.flush() };
}

function foldingLogger(log: Logger, folder: Folder, stream: string, context: LogFields): Logger {
  const fold = (level: string, message: string, fields: LogFields, print: (fields: LogFields) => void): void =>
    folder.take(`${stream} ${level}`, message, { ...context, ...fields }, (extra) => print({ ...fields, ...extra }));
  return {
    enabled: (level) => log.enabled(level),
    v: (level, message, fields = {}) => {
      if (log.enabled(level)) fold(`v${level}`, message, fields, (all) => log.v(level, message, all));
      // Of what is not printed nothing is counted: it costs next to nothing.
      else log.v(level, message, fields);
    },
    info: (message, fields = {}) => fold('info', message, fields, (all) => log.info(message, all)),
    warn: (message, fields = {}) => fold('warn', message, fields, (all) => log.warn(message, all)),
    error: (message, fields = {}) => fold('error', message, fields, (all) => log.error(message, all)),
    child: (fields) => foldingLogger(log.child(fields), folder, stream, { ...context, ...fields }),
    stream: (name) => foldingLogger(log.stream(name), folder, name, context),
  };
}

class Folder {
  readonly #options: FoldRepeatsOptions;
  readonly #subjectFields: readonly string[];
  readonly #aside: ReadonlySet<string>;
  /** In the order in which their windows end. */
  readonly #seen = new Map<string, Seen>();
  /** Those of #seen that wait to be logged, by subject: a new line must not walk all that were seen. */
  readonly #counted = new Map<string, Set<Seen>>();
  #timer: Subscription | undefined;

  constructor(options: FoldRepeatsOptions) {
    this.#options = options;
    this.#subjectFields = options.subject ?? ['pod', 'uid'];
    this.#aside = new Set(options.aside ?? ['next']);
  }

  take(level: string, message: string, fields: LogFields, print: (extra: LogFields) => void): void {
    this.#forgetEnded();
    const key = JSON.stringify([level, message, this.#identity(fields)]);
    const before = this.#seen.get(key);
    if (before !== undefined) {
      before.repeated++;
      before.print = print;
      this.#counted.set(before.subject, (this.#counted.get(before.subject) ?? new Set()).add(before));
      return;
    }
    const about = this.#subjectFields.find((name) => name in fields);
    // A line about nothing in particular is its own subject.
    const subject = about === undefined ? key : JSON.stringify(plainFields({ [about]: fields[about] }));
    for (const other of this.#counted.get(subject) ?? []) this.#tell(other);
    if (this.#seen.size >= (this.#options.maxLines ?? 1_000)) this.#dropOldest();
    this.#remember(key, { subject, print, repeated: 0 });
    print({});
  }

  flush(): void {
    this.#timer?.unsubscribe();
    this.#timer = undefined;
    for (const seen of this.#seen.values()) this.#tell(seen);
    this.#seen.clear();
  }

  #remember(key: string, seen: Omit<Seen, 'untilMs'>): void {
    this.#seen.set(key, { ...seen, untilMs: this.#options.clock.monotonicMs() + this.#options.windowMs });
    this.#arm();
  }

  #dropOldest(): void {
    const [oldest] = this.#seen;
    if (oldest === undefined) return;
    this.#tell(oldest[1]);
    this.#seen.delete(oldest[0]);
  }

  #identity(fields: LogFields): string {
    const telling = Object.entries(fields).filter(([name]) => !name.endsWith('Ms') && !this.#aside.has(name));
    return JSON.stringify(plainFields(Object.fromEntries(telling.toSorted(([a], [b]) => (a < b ? -1 : 1)))));
  }

  /** One timer runs while something is remembered: what a line is about is forgotten also where no other line follows. */
  #arm(): void {
    if (this.#timer !== undefined) return;
    const [first] = this.#seen.values();
    if (first === undefined) return;
    const afterMs = Math.max(0, first.untilMs - this.#options.clock.monotonicMs());
    this.#timer = this.#options.clock.schedule(() => {
      this.#timer = undefined;
      this.#endWindows();
    }, afterMs);
  }

  #endWindows(): void {
    const nowMs = this.#options.clock.monotonicMs();
    for (const [key, seen] of this.#seen) {
      if (seen.untilMs > nowMs) break;
      this.#seen.delete(key);
      if (seen.repeated === 0) continue;
      this.#tell(seen);
      // What has just been logged goes on being counted.
      this.#remember(key, seen);
    }
    this.#arm();
  }

  /** Lines whose window ended without a repeat need no telling. */
  #forgetEnded(): void {
    const nowMs = this.#options.clock.monotonicMs();
    for (const [key, seen] of this.#seen) {
      if (seen.untilMs > nowMs) break;
      if (seen.repeated === 0) this.#seen.delete(key);
    }
  }

  #tell(seen: Seen): void {
    if (seen.repeated === 0) return;
    seen.print({ repeated: seen.repeated });
    seen.repeated = 0;
    const ofSubject = this.#counted.get(seen.subject);
    ofSubject?.delete(seen);
    if (ofSubject?.size === 0) this.#counted.delete(seen.subject);
  }
}
