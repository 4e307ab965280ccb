import { execFile } from 'node:child_process';
import { resolve } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);
const script = resolve(import.meta.dirname, '../../hack/kubeadm.sh');

/** A machine of hack/kubeadm.sh: the one with the control plane, and the one that joins. */
export type Machine = 'first' | 'second';

/** The folder of the machines that hack/kubeadm.sh brings up for the tests. */
export function machinesDirectory(): string {
  const directory = process.env['RXLET_TEST_KUBEADM'];
  if (directory === undefined) throw new Error('RXLET_TEST_KUBEADM names a folder for machines of hack/kubeadm.sh; hack/test.sh sets it');
  return directory;
}

/** Runs hack/kubeadm.sh's verb. Resolves with what it printed, its progress included. */
export async function kubeadmScript(
  verb: 'up' | 'init' | 'network' | 'join' | 'reset' | 'down',
  ...args: readonly string[]
): Promise<string> {
  const { stdout, stderr } = await run(script, [verb, machinesDirectory(), ...args], { maxBuffer: 16 << 20 });
  return stdout + stderr;
}

/** Runs a command on a machine. Resolves with what it printed; rejects where it ends with anything but 0. */
export async function on(machine: Machine, ...command: readonly string[]): Promise<string> {
  return (await run(script, ['on', machinesDirectory(), machine, ...command], { maxBuffer: 16 << 20 })).stdout;
}

/** As the cluster's administrator. Resolves with what it printed. */
export const kubectlOnFirst = (...args: readonly string[]): Promise<string> => on('first', 'kubectl', ...args);
