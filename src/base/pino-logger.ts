import pino from 'pino';
import { klogLine, type Severity } from './klog-line.ts';
import type { LogFields, Logger } from './logger.ts';
import { type Plain, plainFields } from './plain-fields.ts';
import { withoutCredentials } from './without-credentials.ts';

export interface LineDestination {
  /** One or more whole lines, of one severity. */
  write(lines: string, severity?: Severity): void;
}

export interface PinoLoggerOptions {
  readonly format: 'json' | 'text';
  /** `--v`: `v(level, …)` prints up to this level. A function, where it can change, or differs by stream: '' is that of no name. */
  readonly verbosity: number | ((stream: string) => number);
  readonly destination: LineDestination;
  /** For the text format. */
  readonly colour?: boolean;
  /** Of the text format: whether a line begins with its severity and time; absent: it does. */
  readonly headers?: boolean;
  /** Milliseconds since the epoch. */
  readonly nowMs?: () => number;
}

/** Error stacks are printed from here on; below, the chain of messages tells enough. */
const STACK_VERBOSITY = 4;

/**
 * Log lines of the agent, written before the call returns. JSON records have Kubernetes' fields: ts (seconds), v, msg, err, and a
 * level (info, warning, error). Text lines look like klog's. A line's stream is its field `logger`, as in Kubernetes' logs. Secrets are left out: see plainFields.
 */
export function pinoLogger(options: PinoLoggerOptions): Logger {
  const write = options.format === 'json' ? jsonWriter(options) : textWriter(options);
  const { verbosity } = options;
  return loggerOn(write, typeof verbosity === 'number' ? () => verbosity : verbosity, '', {});
}

type Write = (severity: Severity, level: number, message: string, fields: Readonly<Record<string, Plain>>) => void;

function jsonWriter({ destination, nowMs = Date.now }: PinoLoggerOptions): Write {
  // pino writes before its call returns, and does not say of which severity.
  let writing: Severity = 'info';
  const out = pino(
    {
      base: null,
      messageKey: 'msg',
      customLevels: { warning: 40 },
      formatters: { level: (label) => ({ level: label }) },
      timestamp: () => `,"ts":${(nowMs() / 1000).toFixed(3)}`,
    },
    { write: (line: string) => destination.write(line, writing) },
  );
  return (severity, level, message, fields) => {
    writing = severity;
    out[severity](severity === 'info' ? { v: level, ...fields } : fields, message);
  };
}

function textWriter({ destination, colour = false, headers = true, nowMs = Date.now }: PinoLoggerOptions): Write {
  return (severity, _level, message, { stack, ...fields }) => {
    const line = klogLine(severity, headers ? nowMs() : undefined, message, fields, colour);
    destination.write(typeof stack === 'string' ? `${line}\n${stack}\n` : `${line}\n`, severity);
  };
}

function loggerOn(write: Write, verbosityOf: (stream: string) => number, stream: string, context: LogFields): Logger {
  const verbosity = (): number => verbosityOf(stream);
  const name = stream === '' ? {} : { logger: stream };
  const log = (severity: Severity, level: number, message: string, fields: LogFields | undefined): void => {
    const { error, ...rest } = { ...context, ...fields };
    const plain = plainFields(error === undefined ? rest : { ...rest, err: error });
    const stack = verbosity() >= STACK_VERBOSITY && error instanceof Error ? { stack: withoutCredentials(error.stack ?? '') } : {};
    try {
      write(severity, level, message, { ...plain, ...name, ...stack });
    } catch {
      // A log that cannot be written takes nothing down.
    }
  };
  return {
    enabled: (level) => level <= verbosity(),
    v: (level, message, fields) => {
      if (level <= verbosity()) log('info', level, message, fields);
    },
    info: (message, fields) => log('info', 0, message, fields),
    warn: (message, fields) => log('warning', 0, message, fields),
    error: (message, fields) => log('error', 0, message, fields),
    child: (fields) => loggerOn(write, verbosityOf, stream, { ...context, ...fields }),
    stream: (of) => loggerOn(write, verbosityOf, of, context),
  };
}
