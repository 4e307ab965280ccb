import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { criEndpoint, engineOfTests } from '../../builders/engine-of-tests.ts';

/** Stops or starts the engine under test, which has to be a private one. */
export async function engineService(command: 'start' | 'stop'): Promise<void> {
  const { script, directory, start } = privateEngine();
  const path = resolve(import.meta.dirname, '../../../hack', script);
  await promisify(execFile)(path, [command === 'start' ? start : command, directory]);
}

/** The engine under test, which has to be a private one, takes connections and answers nothing until what this resolves with is called. */
export async function freezeEngine(): Promise<() => Promise<void>> {
  const { directory, pidFile } = privateEngine();
  const pid = Number(await readFile(join(directory, pidFile), 'utf8'));
  process.kill(pid, 'SIGSTOP');
  return async () => void process.kill(pid, 'SIGCONT');
}

function privateEngine(): { readonly script: string; readonly directory: string; readonly pidFile: string; readonly start: string } {
  if (engineOfTests === 'cri') {
    const directory = dirname(criEndpoint().slice('unix://'.length));
    return { script: 'containerd.sh', directory, pidFile: 'containerd.pid', start: 'up' };
  }
  const directory = process.env['RXLET_TEST_ENGINE_DIR'];
  if (directory === undefined) throw new Error('RXLET_TEST_ENGINE_DIR names the private engine to stop; hack/test.sh sets it');
  return { script: 'docker.sh', directory, pidFile: 'docker.pid', start: 'start' };
}
