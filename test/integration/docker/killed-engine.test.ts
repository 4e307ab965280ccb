import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readdir, readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { after, test } from 'node:test';
import { promisify } from 'node:util';
import { RawEngine } from '../../../hack/bench/raw-engine.ts';

const script = resolve(import.meta.dirname, '../../../hack/docker.sh');
const directory = '/var/lib/rxlet-test-killed-engine';
const dockerSh = async (command: string): Promise<string> => (await promisify(execFile)(script, [command, directory])).stdout.trim();

/** The processes of that engine: those that have its directory in their arguments. */
async function engineProcesses(): Promise<readonly number[]> {
  const pids = (await readdir('/proc')).map(Number).filter((pid) => pid > 0 && pid !== process.pid);
  const commands = await Promise.all(
    pids.map(async (pid) => [pid, await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')] as const),
  );
  return commands.filter(([, command]) => /^\S*(dockerd|containerd)/.test(command) && command.includes(directory)).map(([pid]) => pid);
}

/** Whether the process runs; one that has ended and that its parent has not asked about yet does not. */
const runs = async (pid: number): Promise<boolean> => /^State:\t[^XZ]/m.test(await readFile(`/proc/${pid}/status`, 'utf8').catch(() => ''));

after(() => dockerSh('down'));

test('an engine that was killed, with all that watches over its containers, comes back, and what ran does not run on', async () => {
  await dockerSh('down');
  const engine = new RawEngine(await dockerSh('up'));
  const [app = ''] = await engine.startPod('left', 'rxlet/pause:1', 'busybox:1.35');
  const { State } = (await engine.call('GET', `/containers/${app}/json`)) as { State: { Pid: number } };
  engine.close();
  const processes = await engineProcesses();
  assert(processes.length >= 4, `dockerd, containerd and two shims, not ${processes.length}`);
  for (const pid of processes) process.kill(pid, 'SIGKILL');
  assert(await runs(State.Pid));

  const back = new RawEngine(await dockerSh('up'));
  const listed = (await back.call('GET', '/containers/json?all=1')) as { State: string }[];
  back.close();
  assert.deepEqual(listed.map((container) => container.State), ['exited', 'exited']); // prettier-ignore
  assert(!(await runs(State.Pid)));
});
