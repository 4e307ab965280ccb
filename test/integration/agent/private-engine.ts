import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';

/** Stops or starts the Docker Engine under test, which has to be a private one. */
export async function engineService(command: 'start' | 'stop'): Promise<void> {
  await promisify(execFile)(resolve(import.meta.dirname, '../../../hack/docker.sh'), [command, privateEngine()]);
}

/** The Docker Engine under test, which has to be a private one, takes connections and answers nothing until what this resolves with is called. */
export async function freezeEngine(): Promise<() => Promise<void>> {
  const pid = Number(await readFile(join(privateEngine(), 'docker.pid'), 'utf8'));
  process.kill(pid, 'SIGSTOP');
  return async () => void process.kill(pid, 'SIGCONT');
}

function privateEngine(): string {
  const directory = process.env['RXLET_TEST_ENGINE_DIR'];
  if (directory === undefined) throw new Error('RXLET_TEST_ENGINE_DIR names the private engine to stop; hack/test.sh sets it');
  return directory;
}
