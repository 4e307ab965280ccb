import type { ServerResponse } from 'node:http';
import type { Clock } from '../../base/clock.ts';
import { commandOutput } from '../../base/command-output.ts';
import { deadline } from '../../base/deadline.ts';
import { errorText } from '../../base/error-text.ts';
import { runCommand } from '../../base/run-command.ts';
import { beginStream, writeTo } from '../../ports/answer.ts';
import { journalArguments } from './journal-arguments.ts';
import type { LogQueryOptions } from './log-query.ts';

/** As long as a kubelet gives the whole answer. */
const DEADLINE_MS = 30_000;

export interface ServiceLogDeps {
  /** "journalctl" */
  readonly journalctl: string;
  /** The bytes of a file below /var/log; undefined: there is no such file. */
  readonly readLog: (path: string, signal: AbortSignal) => Promise<AsyncIterable<Uint8Array> | undefined>;
  /** Where an answer is cut: the journal may have gigabytes. */
  readonly mostBytes: number;
  readonly clock: Pick<Clock, 'monotonicMs' | 'schedule'>;
}

/**
 * Answers with what services of the node have logged: to the journal, or to a file of theirs. What goes wrong is a line of the answer, as
 * Kubernetes has it: its head is sent by then. The journal's reader is killed when the request ends, however it does.
 */
export async function sendServiceLogs(
  { journalctl, readLog, mostBytes, clock }: ServiceLogDeps,
  { services, options }: { readonly services: readonly string[]; readonly options: LogQueryOptions },
  response: ServerResponse,
  signal: AbortSignal,
): Promise<void> {
  using own = deadline(clock, DEADLINE_MS, 'reading the logs', signal);
  let left = mostBytes;
  const send = async (pieces: AsyncIterable<Uint8Array>): Promise<void> => {
    for await (const piece of pieces) {
      if (!(await writeTo(response, Buffer.from(piece.subarray(0, left)), own.signal))) return;
      left -= piece.length;
      if (left <= 0) throw new Error(`only the first ${mostBytes} bytes are shown`);
    }
  };
  const say = (line: string): void => void response.write(`\n${line}\n`);
  beginStream(response, 'text/plain;charset=UTF-8');
  try {
    const known = await journalUnits(journalctl, clock, own.signal);
    const isNative = (service: string): boolean => known.has(`${service}.service`);
    const native = services.filter(isNative);
    const inFiles = services.filter((service) => !isNative(service));
    if (native.length > 0) await send(commandOutput(journalctl, journalArguments(native, options), own.signal));
    if (inFiles.length > 0 && Object.values(options).some((value) => value !== undefined && value !== '')) {
      say(`options present and query resolved to log files for [${inFiles.join(' ')}]\ntry without specifying options`);
      return;
    }
    for (const service of inFiles) {
      const file = await firstOf(logFiles(service), (path) => readLog(path, own.signal));
      if (file === undefined) say(`log not found for ${service}`);
      else await send(file);
    }
  } catch (error) {
    signal.throwIfAborted();
    say(`error: ${errorText(error)}`);
  }
}

/** Where a service that does not write to the journal may have its log. */
const logFiles = (service: string): readonly string[] => [service, `${service}.log`, `${service}/${service}.log`];

/** Units with something in the journal; none where there is no journal. */
async function journalUnits(journalctl: string, clock: Pick<Clock, 'schedule'>, signal: AbortSignal): Promise<ReadonlySet<string>> {
  const end = await runCommand(journalctl, ['--field', '_SYSTEMD_UNIT'], { clock, deadlineMs: DEADLINE_MS, signal });
  return new Set(end.is === 'exited' && end.code === 0 ? end.stdout.split('\n') : []);
}

async function firstOf<T, R>(all: readonly T[], find: (each: T) => Promise<R | undefined>): Promise<R | undefined> {
  for (const each of all) {
    const found = await find(each);
    if (found !== undefined) return found;
  }
  return undefined;
}
