import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { join, resolve } from 'node:path';

const CLOCK_TICKS = 100;

/** The agent as users run it, with its log. */
export class AgentProcess {
  readonly #child: ChildProcess;
  readonly #beganAtMs = performance.now();
  readonly #waiting = new Set<{ readonly matches: (line: string) => boolean; readonly found: () => void }>();

  /** `checkout`: whose build runs, this one's where none is named. */
  constructor(flags: readonly string[], checkout = resolve(import.meta.dirname, '../..')) {
    this.#child = spawn(join(checkout, 'bin/rxlet'), ['--log-format=json', ...flags], {
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    // However the benchmark ends: an agent that is left behind would fight the next one.
    const kill = (): void => void this.#child.kill('SIGKILL');
    process.once('exit', kill);
    this.#child.once('exit', () => process.off('exit', kill));
    for (const stream of [this.#child.stdout, this.#child.stderr]) {
      if (!stream) continue;
      createInterface({ input: stream }).on('line', (line) => {
        for (const waiting of this.#waiting) if (waiting.matches(line)) waiting.found();
      });
    }
  }

  get pid(): number {
    if (this.#child.pid === undefined) throw new Error('the agent did not start: run npm run build');
    return this.#child.pid;
  }

  logLine(matches: (line: string) => boolean): Promise<void> {
    return new Promise((found, reject) => {
      this.#waiting.add({ matches, found });
      this.#child.once('exit', (code) => reject(new Error(`the agent exited with ${code}`)));
    });
  }

  ageMs(): number {
    return performance.now() - this.#beganAtMs;
  }

  cpuSeconds(): number {
    const fields = readFileSync(`/proc/${this.pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
    return (Number(fields[11]) + Number(fields[12])) / CLOCK_TICKS;
  }

  rssMiB(): number {
    return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${this.pid}/status`, 'utf8'))?.[1]) / 1024;
  }

  async stop(): Promise<void> {
    if (this.#child.exitCode !== null) return;
    const exited = once(this.#child, 'exit');
    this.#child.kill('SIGTERM');
    await exited;
  }
}
