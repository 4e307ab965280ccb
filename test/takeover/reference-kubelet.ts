import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { V1Pod } from '@kubernetes/client-node';
import { criEndpoint } from '../builders/engine-of-tests.ts';
import type { CriAgent } from '../integration/cri/cri-agent.ts';

/** A kubelet of another make, on the manifests, the root directory and the node name of an agent that does not run meanwhile. */
export class ReferenceKubelet {
  /** Its log. */
  readonly lines: string[] = [];
  readonly #child: ChildProcess;
  readonly #port: number;

  constructor(agent: CriAgent, port: number) {
    const binary = process.env['RXLET_TEST_KUBELET'];
    if (binary === undefined) throw new Error('RXLET_TEST_KUBELET names no kubelet: hack/takeover.sh does');
    this.#port = port;
    const flags = [
      `--pod-manifest-path=${agent.manifests}`,
      `--root-dir=${agent.rootDir}`,
      `--cert-dir=${join(agent.dir, 'pki')}`,
      `--hostname-override=${agent.node}`,
      '--container-runtime=remote',
      `--container-runtime-endpoint=${criEndpoint()}`,
      // Of its own, as the agent's are: it removes cgroups of pods that it does not know.
      `--cgroup-root=${agent.cgroups?.path}`,
      '--cgroups-per-qos=true',
      '--cgroup-driver=cgroupfs',
      '--enforce-node-allocatable=pods',
      `--read-only-port=${port}`,
      `--port=${port + 1}`,
      '--healthz-port=0',
      '--fail-swap-on=false',
      '--oom-score-adj=0',
      '--eviction-hard=memory.available<100Mi',
      '--image-gc-high-threshold=100',
      '--file-check-frequency=1s',
      '--v=2',
    ];
    this.#child = spawn(binary, flags, { stdio: ['ignore', 'pipe', 'pipe'] });
    for (const stream of [this.#child.stdout, this.#child.stderr])
      if (stream) createInterface({ input: stream }).on('line', (line) => this.lines.push(line));
    const kill = (): void => void this.#child.kill('SIGKILL');
    process.once('exit', kill);
    this.#child.once('exit', () => process.removeListener('exit', kill));
  }

  /** As it reports them; undefined while it does not answer. */
  async pods(): Promise<readonly V1Pod[] | undefined> {
    if (this.#child.exitCode !== null)
      throw new Error(`the kubelet ended with ${this.#child.exitCode}:\n${this.lines.slice(-10).join('\n')}`);
    const response = await fetch(`http://127.0.0.1:${this.#port}/pods`).catch(() => undefined);
    const answer = (await response?.json()) as { readonly items: readonly V1Pod[] | null } | undefined;
    return answer && (answer.items ?? []);
  }

  async stop(): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    const exited = once(this.#child, 'exit');
    this.#child.kill('SIGTERM');
    await exited;
  }
}
