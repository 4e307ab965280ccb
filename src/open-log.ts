import { join } from 'node:path';
import { isatty } from 'node:tty';
import { systemClock } from './base/clock.ts';
import type { Severity } from './base/klog-line.ts';
import { logDestination, severities, takenBy } from './base/log-destination.ts';
import { LogFile } from './base/log-file.ts';
import type { Logger } from './base/logger.ts';
import { type LineDestination, pinoLogger } from './base/pino-logger.ts';
import { standardError } from './base/standard-error.ts';
import type { KubeletOptions } from './options/kubelet-options.ts';

const STANDARD_ERROR = 2;
const MEGABYTE = 2 ** 20;

/** The agent's log, where the options want it. `program` names the files of --log-dir. */
export function openLog(options: KubeletOptions, verbosity: (stream: string) => number, program: string): Logger {
  const { logFormat, logToStandardError, skipLogHeaders } = options;
  const toError = standardError();
  const destination = logToStandardError ? toError : inFiles(options, toError, program);
  const colour = logToStandardError && isatty(STANDARD_ERROR) && !process.env['NO_COLOR'];
  return pinoLogger({ format: logFormat, verbosity, destination, colour, headers: !skipLogHeaders });
}

/** --log-file has all lines; --log-dir a file a severity, by the names that klog's links have. With neither there is standard error alone. */
function inFiles(options: KubeletOptions, toError: LineDestination, program: string): LineDestination {
  const { logFile, logDir, logFileMaxMegabytes, logOneOutput, logAlsoToStandardError, logStandardErrorThreshold } = options;
  const maxBytes = logFileMaxMegabytes === 0 ? Number.POSITIVE_INFINITY : logFileMaxMegabytes * MEGABYTE;
  const onFault = (message: string): void => toError.write(`rxlet: ${message}\n`);
  const open = (path: string, takes: readonly Severity[]) => {
    const file = new LogFile({ clock: systemClock, path, maxBytes, onFault });
    return { takes, write: (lines: string) => file.write(lines) };
  };
  const inDirectory = (severity: Severity) => open(join(logDir, `${program}.${severity.toUpperCase()}`), takenBy(severity, logOneOutput));
  const ofDirectory = logDir === '' ? [] : severities.map(inDirectory);
  const files = logFile === '' ? ofDirectory : [open(logFile, severities)];
  return logDestination({ standardError: toError, files, alsoFrom: logAlsoToStandardError ? 'info' : logStandardErrorThreshold });
}
