import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { launcher } from '../agent/agent-under-test.ts';
import { freePort } from '../agent/free-port.ts';

export interface AnAgent {
  readonly child: ChildProcess;
  /** Where its root directory is, and what else a test needs. */
  readonly dir: string;
  /** What it has written to standard error. */
  readonly lines: readonly string[];
  /** The next or an earlier line that holds the text. Rejects where the agent ends without one. */
  says(text: string): Promise<string>;
  /** Its exit code; null: it was killed. */
  readonly exited: Promise<number | null>;
}

export interface HowAgent {
  readonly dir?: string;
  readonly env?: NodeJS.ProcessEnv;
  readonly flags?: readonly string[];
  /** Its standard error, which the test reads itself; absent: its lines are those of the agent under test. */
  readonly stderr?: number;
}

/** The agent as users start it, without pods, on the embedded engine. It ends with the test. */
export async function anAgent(
  test: { after(dispose: () => Promise<void>): void },
  { dir: given, env = {}, flags = [], stderr }: HowAgent = {},
): Promise<AnAgent> {
  const dir = given ?? (await mkdtemp(join(tmpdir(), 'rxlet-process-')));
  await mkdir(join(dir, 'manifests'), { recursive: true });
  const own = ['--docker-endpoint=fake://', `--root-dir=${dir}/root`, `--pod-manifest-path=${dir}/manifests`, '--log-format=text'];
  const ports = [`--port=${await freePort()}`, '--healthz-port=0'];
  const child = spawn(launcher, [...own, ...ports, ...flags], {
    stdio: ['ignore', 'ignore', stderr ?? 'pipe'],
    env: { ...process.env, ...env },
  });
  const lines: string[] = [];
  const waiting = new Set<() => void>();
  if (child.stderr)
    createInterface(child.stderr).on('line', (line) => {
      lines.push(line);
      for (const look of waiting) look();
    });
  const exited = once(child, 'close').then(([code]: unknown[]) => (typeof code === 'number' ? code : null));
  test.after(async () => {
    child.kill('SIGKILL');
    await exited;
    if (given === undefined) await rm(dir, { recursive: true, force: true });
  });
  const says = (text: string): Promise<string> => {
    const { promise, resolve, reject } = Promise.withResolvers<string>();
    const look = (): void => {
      const line = lines.find((each) => each.includes(text));
      if (line !== undefined) resolve(line);
    };
    waiting.add(look);
    look();
    void exited.then(() => reject(new Error(`it ended without "${text}":\n${lines.join('\n')}`)));
    return promise.finally(() => waiting.delete(look));
  };
  return { child, dir, lines, says, exited };
}
