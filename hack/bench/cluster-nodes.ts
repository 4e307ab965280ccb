import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { ApiClient } from './api-client.ts';
import { NodeProcess } from './node-process.ts';

/** One node of a benchmark: whose agent it is does not show. */
export interface ClusterNode {
  readonly name: string;
  readonly endpoint: string;
  readonly kubeconfig: string;
  /** What the agent keeps. Removed afterwards with removeNodeDirectory. */
  readonly dir: string;
  /** Of a KubeletConfiguration. */
  readonly config: Readonly<Record<string, unknown>>;
  readonly flags?: readonly string[];
  /** The only agent on this machine (the default). Where there are others, what it mounts is seen by itself alone: no volumes in memory. */
  readonly alone?: boolean;
}

/** Runs one of the project's scripts; what it prints. */
export function hack(script: string, ...args: string[]): string {
  return execFileSync(resolve(import.meta.dirname, '..', script), args, { encoding: 'utf8' }).trim();
}

export function startOurs(node: ClusterNode): NodeProcess {
  return start(node, resolve(import.meta.dirname, '../../bin/rxlet'), flagsOf(node));
}

/** `binary` is a kubelet of a version that still speaks to Docker by itself. */
export function startReference(binary: string, node: ClusterNode): NodeProcess {
  return start(node, binary, [...flagsOf(node), '--container-runtime=docker', '--network-plugin=']);
}

const SHARED_LOG_DIRS = ['/var/log/pods', '/var/log/containers'];

/** Kubelets remove the logs of pods that they do not know, so that several on one machine need to see each their own. */
function start({ dir, alone = true }: ClusterNode, binary: string, flags: readonly string[]): NodeProcess {
  if (alone) return new NodeProcess(binary, flags);
  const mounts = SHARED_LOG_DIRS.map((path) => {
    const own = join(dir, path);
    for (const each of [path, own]) mkdirSync(each, { recursive: true });
    return `mount --bind '${own}' '${path}'`;
  });
  const script = `${mounts.join(' && ')} && exec "$@"`;
  return new NodeProcess('unshare', ['--mount', '--propagation=slave', 'sh', '-c', script, 'sh', binary, ...flags]);
}

function flagsOf({ name, endpoint, kubeconfig, dir, config, flags = [] }: ClusterNode): readonly string[] {
  mkdirSync(dir, { recursive: true });
  const file = join(dir, 'config.yaml');
  writeFileSync(file, JSON.stringify({ apiVersion: 'kubelet.config.k8s.io/v1beta1', kind: 'KubeletConfiguration', ...config }));
  return [
    `--config=${file}`,
    `--kubeconfig=${kubeconfig}`,
    `--hostname-override=${name}`,
    `--docker-endpoint=${endpoint}`,
    `--root-dir=${join(dir, 'root')}`,
    `--cert-dir=${join(dir, 'pki')}`,
    '--pod-infra-container-image=rxlet/pause:1',
    ...flags,
  ];
}

export async function nodeReady(api: ApiClient, name: string): Promise<void> {
  for (;;) {
    const node = await api.call('GET', `/api/v1/nodes/${name}`).catch(() => '{}');
    const { status } = JSON.parse(node) as { status?: { conditions?: { type: string; status: string }[] } };
    if (status?.conditions?.some(({ type, status: is }) => type === 'Ready' && is === 'True')) return;
    await pause(250);
  }
}

/** Agents, the reference more than ours, leave the volumes mounted of pods that they did not see to their end. */
export function removeNodeDirectory(dir: string): void {
  const mounted = readFileSync('/proc/mounts', 'utf8')
    .split('\n')
    .map((line) => line.split(' ')[1] ?? '');
  for (const path of mounted.filter((each) => each.startsWith(`${dir}/`))) execFileSync('umount', [path]);
  rmSync(dir, { recursive: true, force: true });
}

export function quantile(list: readonly number[], q: number): number {
  return list.toSorted((a, b) => a - b)[Math.min(list.length - 1, Math.floor(q * list.length))] ?? Number.NaN;
}

export function pause(ms: number): Promise<void> {
  return new Promise((done) => setTimeout(done, ms));
}
