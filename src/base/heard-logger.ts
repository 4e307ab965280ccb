import type { LogFields, Logger } from './logger.ts';

/** A line as it was given to the logger. */
export interface HeardLine {
  /** '': none was named. */
  readonly stream: string;
  readonly level: 'error' | 'warning' | 'info' | number;
  readonly message: string;
  /** Anything, secrets and errors included: `plainFields` makes them fit to be kept. */
  readonly fields: LogFields;
}

/** Details above this are for the log alone. */
export const MOST_HEARD_LEVEL = 4;

/** Logs to `log`, and hands each line up to level 4 to `hear` too, whether or not it is printed. `hear` must not throw, nor log. */
export function heardLogger(log: Logger, hear: (line: HeardLine) => void, stream = '', context: LogFields = {}): Logger {
  const all = (fields: LogFields): LogFields => ({ ...context, ...fields });
  return {
    enabled: (level) => log.enabled(level),
    v: (level, message, fields = {}) => {
      log.v(level, message, fields);
      if (level <= MOST_HEARD_LEVEL) hear({ stream, level, message, fields: all(fields) });
    },
    info: (message, fields = {}) => {
      log.info(message, fields);
      hear({ stream, level: 'info', message, fields: all(fields) });
    },
    warn: (message, fields = {}) => {
      log.warn(message, fields);
      hear({ stream, level: 'warning', message, fields: all(fields) });
    },
    error: (message, fields = {}) => {
      log.error(message, fields);
      hear({ stream, level: 'error', message, fields: all(fields) });
    },
    child: (fields) => heardLogger(log.child(fields), hear, stream, all(fields)),
    stream: (name) => heardLogger(log.stream(name), hear, name, context),
  };
}
