import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';

const CLOCK_TICKS = 100;

/** A node agent, ours or another, with whatever processes it starts. */
export class NodeProcess {
  readonly #child: ChildProcess;

  constructor(command: string, args: readonly string[]) {
    this.#child = spawn(command, args, { stdio: 'ignore' });
    const kill = (): void => void this.#child.kill('SIGKILL');
    process.once('exit', kill);
    this.#child.once('exit', () => process.off('exit', kill));
  }

  cpuSeconds(): number {
    return this.#tree().reduce((sum, pid) => sum + cpuSecondsOf(pid), 0);
  }

  rssMiB(): number {
    return this.#tree().reduce((sum, pid) => sum + rssOf(pid), 0);
  }

  async stop(): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    const exited = once(this.#child, 'exit');
    this.#child.kill('SIGTERM');
    await exited;
  }

  #tree(): readonly number[] {
    const parents = readdirSync('/proc')
      .filter((name) => /^\d+$/.test(name))
      .map((name) => ({ pid: Number(name), parent: Number(statOf(Number(name))[1]) }));
    const tree = [this.#child.pid ?? -1];
    for (const pid of tree) tree.push(...parents.filter(({ parent }) => parent === pid).map((each) => each.pid));
    return tree;
  }
}

/** The fields of /proc/PID/stat after the command's name; none for a process that has gone. */
function statOf(pid: number): readonly string[] {
  try {
    return readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)?.split(' ') ?? [];
  } catch {
    return [];
  }
}

function cpuSecondsOf(pid: number): number {
  const fields = statOf(pid);
  return (Number(fields[11] ?? 0) + Number(fields[12] ?? 0)) / CLOCK_TICKS;
}

function rssOf(pid: number): number {
  try {
    return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) / 1024;
  } catch {
    return 0;
  }
}
