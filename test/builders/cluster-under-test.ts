import { execFile } from 'node:child_process';
import { resolve } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);
const TAKEN_WITHIN_MS = 120_000;
const kubeScript = resolve(import.meta.dirname, '../../hack/kube.sh');

/** The folder of the control plane that hack/kube.sh brought up for the tests. */
export function clusterDirectory(): string {
  const directory = process.env['RXLET_TEST_CLUSTER'];
  if (directory === undefined)
    throw new Error('RXLET_TEST_CLUSTER names the folder of a control plane made by hack/kube.sh; hack/test.sh sets it');
  return directory;
}

export const kubeconfigOf = (user: 'admin' | 'node' | 'bootstrap'): string => resolve(clusterDirectory(), `${user}.kubeconfig`);

/** Makes the kubeconfig of a node of this name, and answers where it is. */
export async function nodeKubeconfig(node: string): Promise<string> {
  return (await run(kubeScript, ['node', clusterDirectory(), node])).stdout.trim();
}

/** As the cluster's administrator. Resolves with what it printed. */
export async function kubectl(...args: readonly string[]): Promise<string> {
  return (await run('kubectl', ['--kubeconfig', kubeconfigOf('admin'), ...args], { timeout: TAKEN_WITHIN_MS })).stdout;
}

/** Stops, starts, pauses or resumes a part of the control plane: see hack/kube.sh. */
export async function controlPlane(verb: 'stop' | 'start' | 'pause' | 'resume' | 'compact', ...args: readonly string[]): Promise<void> {
  await run(kubeScript, [verb, clusterDirectory(), ...args]);
}
