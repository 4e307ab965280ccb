import type { Clock } from '../base/clock.ts';
import { errorText } from '../base/error-text.ts';
import { exponential } from '../base/exponential.ts';
import type { Logger } from '../base/logger.ts';
import { runCommand } from '../base/run-command.ts';

/** What becomes of a service, in systemd's words (sd_notify(3)). */
export type ServiceState = Readonly<Partial<Record<'READY' | 'RELOADING' | 'MONOTONIC_USEC' | 'STATUS' | 'STOPPING' | 'WATCHDOG', string>>>;

export interface ServiceNotifierDeps {
  readonly clock: Pick<Clock, 'schedule' | 'sleep'>;
  readonly log: Pick<Logger, 'info' | 'warn'>;
  readonly socket: string;
  /** The program that sends; another one is for tests. */
  readonly program?: string;
  /** Whether this process may send in the name of another, as root may. */
  readonly privileged: boolean;
}

/** A datagram to a manager that reads takes no time: one that is stuck does not hold up the next for longer. */
const SENT_WITHIN_MS = 5000;
const TRIES = 5;
const backoffMs = exponential(1000, 10_000);
const MAX_STATUS_CHARS = 500;

/**
 * Says to the service manager what becomes of this process, by systemd's own program (docs/adr/0039). One is under way at a time; what is said
 * meanwhile is sent next, and of each word the last counts; what comes after a RELOADING is sent after it. What cannot be sent is tried again a few times, and logged once.
 */
export class ServiceNotifier {
  readonly #deps: ServiceNotifierDeps;
  readonly #left = new AbortController();
  #next: ServiceState = {};
  /** Not before `#next`, which is a RELOADING that this ends. */
  #after: ServiceState | undefined;
  #sending: Promise<void> | undefined;
  #fault: string | undefined;

  constructor(deps: ServiceNotifierDeps) {
    this.#deps = deps;
  }

  notify(state: ServiceState): void {
    if (this.#after !== undefined) this.#after = { ...this.#after, ...withoutReload(state) };
    else if (this.#next.RELOADING !== undefined && state.READY !== undefined) this.#after = state;
    else this.#next = { ...this.#next, ...state };
    this.#sending ??= this.#drain().finally(() => {
      this.#sending = undefined;
    });
  }

  /** Resolves once all of it was sent or given up, and at the latest after `withinMs`, when nothing more is sent. */
  async close(withinMs: number): Promise<void> {
    const { clock } = this.#deps;
    await Promise.race([this.#sending, clock.sleep(withinMs, this.#left.signal).catch(() => {})]);
    this.#left.abort(new Error('the service notifier is closed'));
    await this.#sending;
  }

  async #drain(): Promise<void> {
    for (let failures = 0; !this.#left.signal.aborted && Object.keys(this.#next).length > 0;) {
      const state = this.#next;
      this.#next = this.#after ?? {};
      this.#after = undefined;
      const fault = await this.#send(state).catch(errorText);
      this.#note(fault);
      if (fault === undefined) {
        failures = 0;
        continue;
      }
      failures++;
      if (failures === TRIES) return;
      this.#again(state);
      await this.#deps.clock.sleep(backoffMs(failures), this.#left.signal).catch(() => {});
    }
  }

  /** What was not sent goes before what has come meanwhile. */
  #again(state: ServiceState): void {
    if (state.RELOADING !== undefined && this.#next.READY !== undefined) {
      this.#after = { ...this.#next, ...this.#after };
      this.#next = state;
    } else this.#next = { ...state, ...this.#next };
  }

  /** Undefined: it was sent. */
  async #send(state: ServiceState): Promise<string | undefined> {
    const { clock, socket, privileged, program = 'systemd-notify' } = this.#deps;
    const words = Object.entries(state).map(([name, value]) => `${name}=${value.replaceAll(/\s+/g, ' ').slice(0, MAX_STATUS_CHARS)}`);
    // Of root's, systemd-notify says that its parent has sent them. Others have to be there still when the manager looks who it was.
    const argv = [...(privileged ? ['--no-block'] : []), ...words];
    const env = { ...process.env, NOTIFY_SOCKET: socket };
    const end = await runCommand(program, argv, { clock, deadlineMs: SENT_WITHIN_MS, signal: this.#left.signal, env });
    switch (end.is) {
      case 'exited':
        return end.code === 0 ? undefined : `${program}: ${end.stderr.trim().slice(0, MAX_STATUS_CHARS)}`;
      case 'killed':
        return `${program} was ended by ${end.by}`;
      case 'late':
        return `the service manager has not read from its socket within ${SENT_WITHIN_MS / 1000} s`;
      case 'missing':
        return `${end.error.message}: install systemd's programs, or start the agent without NOTIFY_SOCKET`;
      default:
        return end satisfies never;
    }
  }

  #note(fault: string | undefined): void {
    const { log, socket } = this.#deps;
    if (fault === this.#fault || this.#left.signal.aborted) return;
    this.#fault = fault;
    if (fault === undefined) log.info('the service manager is notified again', { socket });
    else log.warn('the service manager cannot be notified', { socket, fault });
  }
}

/** One more reload before the end of the last one was told is part of that. */
function withoutReload({ RELOADING: _reloading, MONOTONIC_USEC: _since, ...rest }: ServiceState): ServiceState {
  return rest;
}
