import { type Duplex, PassThrough } from 'node:stream';
import { filter, type Subscription } from 'rxjs';
import { abortable } from '../../base/abortable.ts';
import type { Clock } from '../../base/clock.ts';
import type { ContainerAccess, ContainerSession, LogOptions, LogPiece, StreamsWanted } from '../../ports/container-access.ts';
import type { ContainerId, SandboxId } from '../../ports/container-runtime.ts';
import { type CallGate, FakeEngineError } from './call-gate.ts';
import { ContainerProcess } from './container-process.ts';
import type { FakeConsole, Written } from './fake-console.ts';
import type { FakeDaemon, Part } from './fake-daemon.ts';
import { FakeLogFilter } from './fake-logs.ts';
import { FakeSession } from './fake-session.ts';
import { isMissing, programOf, runsInShell } from './shell.ts';

/** The echo service's own number (RFC 862): the one port that answers in every sandbox. */
const ECHO_PORT = 7;

/** As docker tells of a command that the container lacks. */
const CANNOT_INVOKE = 126;

export interface FakeAccessDeps {
  readonly daemon: FakeDaemon;
  readonly gate: CallGate;
  readonly clock: Clock;
}

/** ContainerAccess on the daemon in memory. Commands are played by its shell; what that does not know succeeds, and says so. */
export class FakeAccess implements ContainerAccess {
  readonly #deps: FakeAccessDeps;

  constructor(deps: FakeAccessDeps) {
    this.#deps = deps;
  }

  exec(id: ContainerId, command: readonly string[], wanted: StreamsWanted, signal: AbortSignal): Promise<ContainerSession> {
    return this.#deps.gate.pass('exec', signal, () => {
      this.#running(id);
      const input: Uint8Array[] = [];
      let inputEnded = !wanted.stdin;
      const fake = new FakeSession(wanted, {
        onInput: (bytes) => {
          input.push(bytes);
          process.input();
        },
        onInputEnd: () => {
          inputEnded = true;
          process.input();
        },
      });
      const io = {
        write: (stream: Written['stream'], bytes: Uint8Array) => fake.write(wanted.tty ? 'stdout' : stream, bytes),
        read: () => input.shift() ?? (inputEnded ? ('end' as const) : undefined),
      };
      const env = this.#deps.daemon.console(id)?.env ?? new Map<string, string>();
      const puzzled = (why: string): void => io.write('stderr', Buffer.from(`sh: syntax error: ${why}\n`));
      const over = (code: number): void => {
        ended.unsubscribe();
        signal.removeEventListener('abort', onAbort);
        fake.end(code);
      };
      const known = runsInShell(command);
      const process = new ContainerProcess(programOf(known ? command : ['true'], env, puzzled, io), this.#deps.clock, over);
      const onAbort = (): void => {
        fake.break(signal.reason);
        process.kill();
      };
      const ended = this.#whenEnded(id, () => process.kill());
      signal.addEventListener('abort', onAbort, { once: true });
      const [name = ''] = command;
      if (isMissing(name)) {
        io.write(
          'stdout',
          Buffer.from(`OCI runtime exec failed: exec failed: "${name}": stat ${name}: no such file or directory: unknown\r\n`),
        );
        process.kill(CANNOT_INVOKE);
      } else {
        if (!known) io.write('stderr', Buffer.from(`the embedded engine runs no programs: it plays that ${name} succeeded\n`));
        process.start();
      }
      return fake.session;
    });
  }

  attach(id: ContainerId, wanted: StreamsWanted, signal: AbortSignal): Promise<ContainerSession> {
    return this.#deps.gate.pass('attach', signal, () => {
      const console = this.#running(id);
      const fake = new FakeSession(wanted, { onInput: (bytes) => console?.feed(bytes), onInputEnd: () => console?.inputLeft() });
      const output = console?.written.subscribe(({ stream, bytes }) => fake.write(wanted.tty ? 'stdout' : stream, bytes));
      const letGo = (): void => {
        output?.unsubscribe();
        ended.unsubscribe();
        signal.removeEventListener('abort', onAbort);
      };
      const onAbort = (): void => {
        letGo();
        fake.break(signal.reason);
      };
      const ended = this.#whenEnded(id, () => {
        letGo();
        fake.end(undefined);
      });
      signal.addEventListener('abort', onAbort, { once: true });
      return fake.session;
    });
  }

  dial(sandbox: SandboxId, port: number, signal: AbortSignal): Promise<Duplex> {
    return this.#deps.gate.pass('dial', signal, () => {
      this.#running(sandbox);
      if (port !== ECHO_PORT) throw new FakeEngineError(`dial tcp 127.0.0.1:${port}: connect: connection refused`);
      return new PassThrough();
    });
  }

  async *logs(id: ContainerId, options: LogOptions, signal: AbortSignal): AsyncGenerator<LogPiece> {
    try {
      const part = await this.#deps.gate.pass('logs', signal, () => this.#existing(id));
      const console = this.#deps.daemon.console(id);
      if (!console) return;
      const filterOf = new FakeLogFilter(options);
      const waiting: Written[] = [];
      let wake = (): void => {};
      let over = !options.follow || part.state.phase !== 'running';
      const subscriptions = [
        console.written.subscribe((written) => {
          waiting.push(written);
          wake();
        }),
        this.#whenEnded(id, () => {
          over = true;
          wake();
        }),
      ];
      try {
        for (const line of filterOf.tail(console.kept)) yield* filterOf.pieces(line);
        while (!signal.aborted && !filterOf.full) {
          const next = waiting.shift();
          if (next) {
            if (options.follow) yield* filterOf.pieces(next);
          } else if (over) return;
          else await abortable<void>(signal, (resolve) => void (wake = resolve));
        }
      } finally {
        for (const subscription of subscriptions) subscription.unsubscribe();
      }
    } catch (error) {
      if (!signal.aborted) throw error;
    }
  }

  #existing(id: string): Part {
    const part = this.#deps.daemon.get(id);
    if (!part) throw new FakeEngineError(`Error: No such container: ${id}`);
    return part;
  }

  #running(id: string): FakeConsole | undefined {
    if (this.#existing(id).state.phase !== 'running') throw new FakeEngineError(`container not running (${id})`);
    return this.#deps.daemon.console(id);
  }

  #whenEnded(id: string, act: () => void): Subscription {
    return this.#deps.daemon.changes
      .pipe(filter(({ part, gone }) => part.id === id && (gone || part.state.phase !== 'running')))
      .subscribe(act);
  }
}
