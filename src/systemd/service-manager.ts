/** The service manager that has started this process and wants to hear from it (sd_notify(3)). */
export interface ServiceManager {
  /** A socket's path, "@name" of an abstract one, or another address that systemd-notify knows. */
  readonly socket: string;
  /** It ends this process when it has heard nothing for so long; undefined: it does not. */
  readonly watchdogMs: number | undefined;
}

/** A kubelet does not start where there is less time (pkg/kubelet/watchdog). */
const LEAST_WATCHDOG_MS = 1000;

/**
 * Undefined: none wants to. Takes out of `env` what is for this process alone, so that no program that it starts speaks for it. Throws an
 * Error for people where a watchdog is set that cannot be kept.
 */
export function takeServiceManager(env: NodeJS.ProcessEnv, pid: number): ServiceManager | undefined {
  const { NOTIFY_SOCKET: socket = '', WATCHDOG_USEC: usec = '', WATCHDOG_PID: watched = '' } = env;
  for (const name of ['NOTIFY_SOCKET', 'WATCHDOG_USEC', 'WATCHDOG_PID']) delete env[name];
  if (socket === '') return undefined;
  return { socket, watchdogMs: usec === '' || (watched !== '' && watched !== String(pid)) ? undefined : watchdogMs(usec) };
}

function watchdogMs(usec: string): number {
  const ms = /^\d{1,15}$/.test(usec) ? Number(usec) / 1000 : 0;
  if (ms > LEAST_WATCHDOG_MS) return ms;
  throw new Error(
    `the service manager's watchdog cannot be kept: WATCHDOG_USEC is ${JSON.stringify(usec.slice(0, 50))}, and more than 1000000 microseconds are needed: set WatchdogSec= to more than 1s`,
  );
}
