import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock } from '../base/clock.ts';
import { followCommand } from '../base/follow-command.ts';
import { runCommand } from '../base/run-command.ts';

const BUS_NAME = 'org.freedesktop.login1';
const OBJECT = '/org/freedesktop/login1';
const MANAGER = 'org.freedesktop.login1.Manager';
const SYSTEMD = ['org.freedesktop.systemd1', '/org/freedesktop/systemd1', 'org.freedesktop.systemd1.Manager'] as const;
const SIGHUP = '1';

/** No answer of the bus takes longer where it works. */
const CALL_WITHIN_MS = 10_000;

export interface LogindDeps {
  readonly clock: Pick<Clock, 'schedule'>;
  /** "/etc/systemd/logind.conf.d" */
  readonly confDir: string;
}

/** What may delay the shutdown of the machine, and hears of it. Each call rejects where there is none that answers. */
export interface Logind {
  /** For how long at most it waits for those who delay a shutdown. */
  delayMaxMs(signal: AbortSignal): Promise<number>;
  /** Lets it wait that long from now on. Resolves before it does. */
  raiseDelayMax(seconds: number, signal: AbortSignal): Promise<void>;
  /** Whether the machine is going down. */
  isPreparing(signal: AbortSignal): Promise<boolean>;
  /** Delays a shutdown until `signal` aborts; `onHeld` is called once that is so. Rejects when it does not any more. */
  delay(onHeld: () => void, signal: AbortSignal): Promise<never>;
  /** Hears that the machine goes down, or does not after all, until `signal` aborts; `onReady` is called once nothing is missed. Rejects when it does not any more. */
  watch(hear: { readonly onReady: () => void; readonly onPrepare: (goesDown: boolean) => void }, signal: AbortSignal): Promise<never>;
}

/**
 * By systemd's own programs, which are there where logind is (docs/adr/0026): Node cannot receive the file descriptor that is a lock. Only
 * what logind itself says is heard, though any user of the machine may send the same signal.
 */
export function logind({ clock, confDir }: LogindDeps): Logind {
  const busctl = async (argv: readonly string[], signal: AbortSignal): Promise<string> => {
    const end = await runCommand('busctl', ['--system', '--json=short', ...argv], { clock, deadlineMs: CALL_WITHIN_MS, signal });
    if (end.is === 'missing') throw end.error;
    if (end.is === 'exited' && end.code === 0) return end.stdout;
    const why = end.is === 'late' ? `no answer within ${CALL_WITHIN_MS / 1000} s` : end.stderr.trim();
    throw new Error(`busctl ${argv[0]} ${argv.at(-1)}: ${why}`);
  };
  const property = async (name: string, signal: AbortSignal): Promise<unknown> => {
    const text = await busctl(['get-property', BUS_NAME, OBJECT, MANAGER, name], signal);
    return dataOf(text);
  };
  return {
    delayMaxMs: async (signal) => {
      const usec = await property('InhibitDelayMaxUSec', signal);
      if (typeof usec !== 'number' || usec < 0) throw new Error(`logind's InhibitDelayMaxUSec is no time: ${JSON.stringify(usec)}`);
      return usec / 1000;
    },
    raiseDelayMax: async (seconds, signal) => {
      await mkdir(confDir, { recursive: true, mode: 0o755 });
      const path = join(confDir, '99-kubelet.conf');
      await writeFile(path, `# Kubelet logind override\n\n[Login]\nInhibitDelayMaxSec=${seconds}\n`, { mode: 0o644 });
      await busctl(['call', ...SYSTEMD, 'KillUnit', 'ssi', 'systemd-logind.service', 'all', SIGHUP], signal);
    },
    isPreparing: async (signal) => (await property('PreparingForShutdown', signal)) === true,
    delay: (onHeld, signal) => {
      const why = ['--what=shutdown', '--mode=delay', '--who=kubelet', '--why=Kubelet needs time to handle node shutdown'];
      // It ends with its input, which ends with this process: however that ends, nothing is delayed any more.
      const holds = ['sh', '-c', 'echo held && exec cat >/dev/null'];
      return followCommand('systemd-inhibit', [...why, ...holds], { onLine: onHeld }, signal);
    },
    watch: ({ onReady, onPrepare }, signal) => {
      const rules = [`type='signal'`, `sender='${BUS_NAME}'`, `path='${OBJECT}'`, `interface='${MANAGER}'`, `member='PrepareForShutdown'`];
      const onLine = (line: string): void => {
        const goesDown = preparation(line);
        if (goesDown !== undefined) onPrepare(goesDown);
      };
      // What it says once it watches: "Monitoring bus message stream."
      const argv = ['--system', '--json=short', `--match=${rules.join(',')}`, 'monitor'];
      return followCommand('busctl', argv, { onLine, onErrorLine: onReady }, signal);
    },
  };
}

/** Undefined: the line says something else. */
function preparation(line: string): boolean | undefined {
  const { member, payload } = parsed(line) as { readonly member?: unknown; readonly payload?: { readonly data?: unknown } | null };
  const [goesDown] = Array.isArray(payload?.data) ? (payload.data as readonly unknown[]) : [];
  return member === 'PrepareForShutdown' && typeof goesDown === 'boolean' ? goesDown : undefined;
}

const dataOf = (text: string): unknown => (parsed(text) as { readonly data?: unknown }).data;

function parsed(text: string): object {
  try {
    return Object(JSON.parse(text));
  } catch {
    return {};
  }
}
