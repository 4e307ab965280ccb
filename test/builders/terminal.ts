import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { promisify } from 'node:util';

const run = promisify(execFile);
const PATIENCE_MS = 30_000;
let serial = 0;

/** A real terminal, by tmux: somebody sits there, types, looks at the screen and changes the size of the window. */
export class Terminal {
  readonly #server = `rxlet-test-${process.pid}-${++serial}`;
  readonly #control: ChildProcess;
  /** Whoever waits for something to appear. */
  readonly #waiting = new Set<() => void>();

  private constructor(command: readonly string[], columns: number, rows: number) {
    const words = ['-L', this.#server, '-f', '/dev/null', '-C', 'new-session', '-x', String(columns), '-y', String(rows), ...command];
    // In control mode tmux says on its standard output when something was written to the terminal.
    this.#control = spawn('tmux', words, { stdio: ['pipe', 'pipe', 'inherit'] });
    this.#control.stdout?.on('data', () => {
      for (const look of this.#waiting) look();
    });
  }

  /** Runs the command in a window of that size, until the end of the test. */
  static async open(
    test: { after(dispose: () => Promise<void>): void },
    command: readonly string[],
    size = { columns: 80, rows: 24 },
  ): Promise<Terminal> {
    const terminal = new Terminal(command, size.columns, size.rows);
    test.after(() => terminal.close());
    const { stdout } = terminal.#control;
    if (stdout) await once(stdout, 'readable');
    return terminal;
  }

  /** Types the text, then the key: tmux has names for keys, such as Enter and C-c. */
  async type(text: string, key = 'Enter'): Promise<void> {
    if (text !== '') await this.#tmux('send-keys', '-l', text);
    await this.#tmux('send-keys', key);
  }

  async resize(columns: number, rows: number): Promise<void> {
    await this.#tmux('resize-window', '-x', String(columns), '-y', String(rows));
  }

  /** Without the blanks at the ends. */
  async screen(): Promise<string> {
    return (await this.#tmux('capture-pane', '-p', '-J')).trimEnd();
  }

  /** Waits until the screen shows it, and answers the screen. */
  async shows(what: RegExp): Promise<string> {
    const timeout = AbortSignal.timeout(PATIENCE_MS);
    for (;;) {
      const changed = new Promise<void>((resolve) => {
        this.#waiting.add(resolve);
        timeout.addEventListener('abort', () => resolve(), { once: true });
      });
      const screen = await this.screen();
      if (what.test(screen)) return screen;
      if (timeout.aborted) throw new Error(`the terminal does not show ${what}, but\n${screen}`);
      await changed;
      this.#waiting.clear();
    }
  }

  async #tmux(...words: readonly string[]): Promise<string> {
    return (await run('tmux', ['-L', this.#server, ...words])).stdout;
  }

  /** At the end of the test at the latest; again is nothing. */
  async close(): Promise<void> {
    this.#waiting.clear();
    if (this.#control.exitCode !== null) return;
    const exited = once(this.#control, 'exit');
    await this.#tmux('kill-server').catch(() => this.#control.kill());
    await exited;
  }
}

/** Sits at a shell behind the command: its size is the window's, follows it, and Ctrl-C reaches what runs there. Leaves the shell waiting. */
export async function terminalOfAShell(test: Parameters<typeof Terminal.open>[0], command: readonly string[]): Promise<Terminal> {
  // The window stays open to show how it ended.
  const shown = ['sh', '-c', '"$@"; echo "[$?]"; exec sleep 1000', 'sh', ...command];
  const terminal = await Terminal.open(test, shown, { columns: 90, rows: 30 });
  await terminal.shows(/#$/m);
  await terminal.type('stty size; tty');
  await terminal.shows(/^30 90\n\/dev\/pts\/\d+$/m);
  await terminal.resize(120, 40);
  await terminal.type('until [ "$(stty size)" = "40 120" ]; do sleep 0.1; done; echo "now $(stty size)"');
  await terminal.shows(/^now 40 120$/m);
  // It speaks once it has the terminal: a shell that is just starting it would take the Ctrl-C for its own.
  await terminal.type(`sh -c "echo sl''eeps; exec sleep 1000"`);
  await terminal.shows(/^sleeps$/m);
  await terminal.type('', 'C-c');
  await terminal.shows(/\^C\n.*#$/);
  return terminal;
}
