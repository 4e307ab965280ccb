export type LogFields = Readonly<Record<string, unknown>>;

/** Constant messages plus fields, levels as klog has them. Implementations never throw. */
export interface Logger {
  /** Whether `v(level, …)` would print: guard costly fields with it. */
  enabled(level: number): boolean;
  /** Detail for `--v=level` and above. */
  v(level: number, message: string, fields?: LogFields): void;
  /** A transition that an operator wants to see. */
  info(message: string, fields?: LogFields): void;
  warn(message: string, fields?: LogFields): void;
  /** Put an error under the field `error`; its chain of causes is printed. */
  error(message: string, fields?: LogFields): void;
  child(fields: LogFields): Logger;
  /** The same under the name of a part of the agent, in place of the name before. */
  stream(name: string): Logger;
}

/** For tests and for parts run without a log. */
export const silentLogger: Logger = {
  enabled: () => false,
  v: () => {},
  info: () => {},
  warn: () => {},
  error: () => {},
  child: () => silentLogger,
  stream: () => silentLogger,
};
