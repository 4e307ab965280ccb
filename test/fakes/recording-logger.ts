import type { LogFields, Logger } from '../../src/base/logger.ts';

export interface LogLine {
  readonly level: 'info' | 'warn' | 'error';
  readonly message: string;
  readonly fields: LogFields;
}

/** Keeps what was said (details by `v` apart), and lets a test wait for a message. */
export class RecordingLogger implements Logger {
  readonly lines: LogLine[] = [];
  readonly #waiting: { readonly message: string; readonly resolve: (line: LogLine) => void }[] = [];

  enabled(): boolean {
    return false;
  }

  v(): void {}

  info(message: string, fields: LogFields = {}): void {
    this.#keep({ level: 'info', message, fields });
  }

  warn(message: string, fields: LogFields = {}): void {
    this.#keep({ level: 'warn', message, fields });
  }

  error(message: string, fields: LogFields = {}): void {
    this.#keep({ level: 'error', message, fields });
  }

  child(): Logger {
    return this;
  }

  stream(): Logger {
    return this;
  }

  count(message: string): number {
    return this.lines.filter((line) => line.message === message).length;
  }

  /** The next line with this message that has not been said yet. */
  next(message: string): Promise<LogLine> {
    return new Promise((resolve) => this.#waiting.push({ message, resolve }));
  }

  #keep(line: LogLine): void {
    this.lines.push(line);
    for (const waiting of this.#waiting.filter(({ message }) => message === line.message)) {
      this.#waiting.splice(this.#waiting.indexOf(waiting), 1);
      waiting.resolve(line);
    }
  }
}
