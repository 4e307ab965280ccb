import { holds, sleepMs } from './busybox.ts';
import { noHandler, noIo, type OutputStream, type Pause, type ProcessIo, type Program, type Run, serve, type Wake } from './program.ts';
import { stopSignalOf } from '../../model/stop-signal.ts';
import { printed } from './printed.ts';
import { parseShell, type Redirection, type Script, ShellSyntaxError, type Word } from './shell-syntax.ts';

class Exit extends Error {
  readonly code: number;
  constructor(code: number) {
    super('exit');
    this.code = code;
  }
}
class LoopJump extends Error {
  readonly again: boolean;
  constructor(again: boolean) {
    super('a jump out of a loop');
    this.again = again;
  }
}

/** What a loop's turn costs that waits for nothing: a busy loop must not stop the world. */
const BUSY_TURN_MS = 100;

/** Commands that stay in the foreground until they are stopped. */
const stays = (command: string, args: readonly string[]): boolean =>
  (/(^|\/)(tail|httpd)$/.test(command) && args.some((a) => /^-\w*[fF]/.test(a))) ||
  (/(^|\/)nc$/.test(command) && args.some((a) => /^-\w*l/.test(a))) ||
  /(^|\/)nginx$/.test(command);

/**
 * One shell. A subshell and a background job have one of their own; a job does its waiting when it is waited for, so that time passes as in
 * a real shell while there are no threads here.
 */
class Shell {
  readonly #variables: Map<string, string>;
  /** Undefined: the stop signal is not heard. Empty: ignored on purpose. */
  #trap: string | undefined;
  #termed = false;
  #status = 0;
  #pauses = 0;
  readonly #jobs: Script[] = [];
  readonly #io: ProcessIo;

  constructor(variables: ReadonlyMap<string, string>, io: ProcessIo) {
    this.#variables = new Map(variables);
    this.#io = io;
  }

  onTerm(): boolean {
    this.#termed = this.#trap !== undefined && this.#trap !== '';
    return this.#termed;
  }

  /** To the end, or to an `exit`. */
  *main(script: Script): Run {
    try {
      return yield* this.#run(script);
    } catch (error) {
      if (error instanceof Exit) return error.code;
      if (error instanceof LoopJump) return 0;
      if (error instanceof ShellSyntaxError) return 2;
      throw error;
    }
  }

  *#pause(ms: number, hears: Pause['hears']): Generator<Pause, Wake, Wake> {
    this.#pauses++;
    return yield { ms, hears };
  }

  *#run(script: Script): Run {
    this.#status = yield* this.#step(script);
    if (this.#termed) {
      this.#termed = false;
      const status = this.#status;
      yield* this.#run(parseShell(this.#trap ?? ''));
      this.#status = status;
    }
    return this.#status;
  }

  *#step(script: Script): Run {
    switch (script.kind) {
      case 'simple':
        return yield* this.#simple(script.words, redirected(this.#io, script.redirections));
      case 'list':
        return yield* this.#list(script.items);
      case 'and':
      case 'or': {
        const left = yield* this.#run(script.left);
        return (left === 0) === (script.kind === 'and') ? yield* this.#run(script.right) : left;
      }
      case 'pipe': {
        // One after the other, as there are no threads here.
        const piped: Uint8Array[] = [];
        const io = this.#io;
        const open: ProcessIo['open'] = (path, append) => io.open?.(path, append);
        yield* this.#subshell(script.left, {
          write: (stream, bytes) => (stream === 'stdout' ? void piped.push(bytes) : io.write(stream, bytes)),
          read: () => io.read(),
          open,
        });
        return yield* this.#subshell(script.right, {
          write: (stream, bytes) => io.write(stream, bytes),
          read: () => piped.shift() ?? 'end',
          open,
        });
      }
      case 'not':
        return (yield* this.#run(script.body)) === 0 ? 1 : 0;
      case 'subshell':
        return yield* this.#subshell(script.body, this.#io);
      case 'loop':
        return yield* this.#loop(script);
      case 'for':
        for (const word of script.words.flatMap((w) => this.#expand(w).split(/\s+/))) {
          this.#variables.set(script.name, word);
          if (yield* this.#turn(script.body)) break;
        }
        return this.#status;
      case 'if':
        if ((yield* this.#run(script.condition)) === 0) return yield* this.#run(script.body);
        return script.otherwise ? yield* this.#run(script.otherwise) : 0;
      default:
        return script satisfies never;
    }
  }

  *#list(items: readonly { readonly script: Script; readonly background: boolean }[]): Run {
    let status = 0;
    for (const { script, background } of items) {
      if (background) this.#jobs.push(script);
      status = background ? 0 : yield* this.#run(script);
    }
    return status;
  }

  *#subshell(script: Script, io: ProcessIo): Run {
    const shell = new Shell(this.#variables, io);
    const status = yield* shell.main(script);
    this.#pauses += shell.#pauses;
    return status;
  }

  *#loop(script: Script & { readonly kind: 'loop' }): Run {
    for (;;) {
      const before = this.#pauses;
      if (((yield* this.#run(script.condition)) === 0) !== script.while) return 0;
      if (yield* this.#turn(script.body)) return 0;
      if (this.#pauses === before) yield* this.#pause(BUSY_TURN_MS, 'nothing');
    }
  }

  /** True when the loop is to be left. */
  *#turn(body: Script): Generator<Pause, boolean, Wake> {
    try {
      yield* this.#run(body);
      return false;
    } catch (error) {
      if (error instanceof LoopJump) return !error.again;
      throw error;
    }
  }

  /** Ends early, with 143, on a trapped SIGTERM. */
  *#wait(): Run {
    for (let job = this.#jobs.shift(); job; job = this.#jobs.shift()) {
      const run = new Shell(this.#variables, this.#io).main(job);
      for (let step = run.next('elapsed'); !step.done; step = run.next('elapsed')) {
        if ((yield* this.#pause(step.value.ms, 'trap')) === 'signalled') return 128 + 15;
      }
    }
    return 0;
  }

  *#simple(words: readonly Word[], io: ProcessIo): Run {
    const expanded = words.map((word) => this.#expand(word));
    const first = expanded.findIndex((word) => !/^[A-Za-z_]\w*=/.test(word));
    const [command = '', ...args] = first < 0 ? [] : expanded.slice(first);
    if (first < 0 || command === 'export') {
      for (const word of first < 0 ? expanded : args) {
        const [name = '', ...value] = word.split('=');
        if (value.length > 0) this.#variables.set(name, value.join('='));
      }
      return 0;
    }
    switch (command) {
      case 'exit':
        throw new Exit(args[0] === undefined ? this.#status : Number(args[0]) & 255);
      case 'break':
      case 'continue':
        throw new LoopJump(command === 'continue');
      case 'wait':
        return yield* this.#wait();
      case 'trap': {
        const [action = '', ...signals] = args;
        if (signals.some((signal) => stopSignalOf(signal) === stopSignalOf(this.#io.stopSignal)))
          this.#trap = action === '-' ? undefined : action;
        return 0;
      }
      case 'exec': {
        const [program = '', ...rest] = args;
        throw new Exit(yield* isShell(program) || isSimple(program) ? this.#program(program, rest, io) : serve());
      }
      default:
        return yield* this.#program(command, args, io);
    }
  }

  *#program(command: string, args: readonly string[], io: ProcessIo): Run {
    if (isShell(command)) return yield* this.#subshell(parseShell(scriptOf(args)), io);
    if (isMissing(command)) {
      io.write('stderr', Buffer.from(`sh: ${command}: not found\n`));
      return 127;
    }
    if (baseName(command) === 'cat' && args.every((arg) => arg === '-')) return yield* this.#copyInput(io);
    if (stays(command, args)) yield* this.#pause(Number.POSITIVE_INFINITY, 'nothing');
    const ms = isSleep(command) ? sleepMs(args) : 0;
    if (ms > 0) yield* this.#pause(ms, 'nothing');
    const text = printed(baseName(command), args, this.#variables);
    if (text !== '') io.write('stdout', Buffer.from(text));
    return answer(command, args);
  }

  *#copyInput(io: ProcessIo): Run {
    for (;;) {
      const bytes = io.read();
      if (bytes === 'end') return 0;
      if (bytes) io.write('stdout', bytes);
      else yield* this.#pause(Number.POSITIVE_INFINITY, 'input');
    }
  }

  #expand(word: Word): string {
    const value = (name: string): string => (name === '?' ? String(this.#status) : name === '$' ? '1' : (this.#variables.get(name) ?? ''));
    return word.map((part) => (typeof part === 'string' ? part : value(part.variable))).join('');
  }
}

const baseName = (command: string): string => command.slice(command.lastIndexOf('/') + 1);
const isShell = (command: string): boolean => /^(sh|ash|bash|dash)$/.test(baseName(command));
const isSleep = (command: string): boolean => baseName(command) === 'sleep';
const isSimple = (command: string): boolean => isSleep(command) || /^(true|false|:|echo|printf|cat|env|test|\[)$/.test(baseName(command));
const scriptOf = (args: readonly string[]): string => args[args.findIndex((arg) => /^-\w*c$/.test(arg)) + 1] ?? '';

/** The streams of a command whose outputs go elsewhere. */
function redirected(io: ProcessIo, redirections: readonly Redirection[]): ProcessIo {
  if (redirections.length === 0) return io;
  const streamTo = (stream: OutputStream) => (bytes: Uint8Array) => io.write(stream, bytes);
  const targets: (((bytes: Uint8Array) => void) | undefined)[] = [undefined, streamTo('stdout'), streamTo('stderr')];
  for (const { fd, to } of redirections) {
    targets[fd] = to === 'nowhere' ? undefined : typeof to === 'number' ? targets[to] : io.open?.(to.path, to.append);
  }
  return {
    read: () => (redirections.some(({ fd }) => fd === 0) ? 'end' : io.read()),
    write: (stream, bytes) => targets[stream === 'stdout' ? 1 : 2]?.(bytes),
    open: (path, append) => io.open?.(path, append),
  };
}

/** Whether what the command does is known here. */
export const runsInShell = ([command = '']: readonly string[]): boolean => isShell(command) || isSimple(command);

/** Nothing is ever under /nonexistent, by old custom. */
export const isMissing = (command: string): boolean => /^\/nonexistent(\/|$)/.test(command);

/** The exit code of a command that takes no time. What is not known here succeeds. */
function answer(command: string, args: readonly string[]): number {
  switch (baseName(command)) {
    case 'false':
      return 1;
    case 'test':
      return holds(args) ? 0 : 1;
    case '[':
      return holds(args.slice(0, -1)) ? 0 : 1;
    default:
      return 0;
  }
}

/**
 * What a container's command does, as far as time, signals and exit codes go: `sh -c` is interpreted, `sleep`, `true`, `false` and `test` are
 * known, other commands in a script succeed at once, and any other program is a server that runs until SIGTERM. A script that is not
 * understood ends with 2, a shell's own exit code for a syntax error, and `onPuzzled` gets the reason.
 */
export function programOf(
  argv: readonly string[],
  env: ReadonlyMap<string, string>,
  onPuzzled: (why: string) => void,
  io: ProcessIo = noIo,
): Program {
  const [command, ...args] = argv;
  if (command === undefined) return { run: serve(), onTerm: noHandler };
  if (!isShell(command) && !isSimple(command)) return { run: serve(), onTerm: noHandler };
  const shell = new Shell(env, io);
  try {
    const script = isShell(command) ? parseShell(scriptOf(args)) : wordsOf(argv);
    return { run: shell.main(script), onTerm: () => shell.onTerm() };
  } catch (error) {
    if (!(error instanceof ShellSyntaxError)) throw error;
    onPuzzled(error.message);
    return { run: endWith(2), onTerm: noHandler };
  }
}

const wordsOf = (argv: readonly string[]): Script => ({ kind: 'simple', words: argv.map((arg) => [arg]), redirections: [] });

// oxlint-disable-next-line require-yield -- a process that ends at once
function* endWith(code: number): Run {
  return code;
}
