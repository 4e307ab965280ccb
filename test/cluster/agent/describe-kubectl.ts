import { join } from 'node:path';
import { after, before, describe } from 'node:test';
import { clusterDirectory } from '../../builders/cluster-under-test.ts';
import type { Disposer } from '../../integration/agent/agent-under-test.ts';
import type { ClusterNode } from './cluster-node.ts';
import { type Kubectl, KubectlProcess, kubectls, kubectlWords, type Ran } from './kubectl-process.ts';
import { sharedNode } from './shared-node.ts';

/** One kubectl on one node. Pods are called as the test calls them. */
export class KubectlOnNode {
  readonly version: string;
  readonly #kubectl: Kubectl;
  readonly #node: () => ClusterNode;

  constructor(kubectl: Kubectl, node: () => ClusterNode) {
    this.version = kubectl.version;
    this.#kubectl = kubectl;
    this.#node = node;
  }

  get node(): ClusterNode {
    return this.#node();
  }

  /** Its name in the cluster. */
  pod(name: string): string {
    return this.node.called(name);
  }

  /** Runs to its end, with an empty input. */
  run(...args: readonly string[]): Promise<Ran> {
    return KubectlProcess.run(this.#kubectl, this.node, args);
  }

  runOn(input: string | Buffer, ...args: readonly string[]): Promise<Ran> {
    return KubectlProcess.run(this.#kubectl, this.node, args, input);
  }

  /** Until the end of the test, with an open input. */
  start(test: Disposer, ...args: readonly string[]): KubectlProcess {
    return KubectlProcess.start(test, this.#kubectl, this.node, ...args);
  }

  words(...args: readonly string[]): readonly string[] {
    return kubectlWords(this.#kubectl, this.node, args);
  }

  /** Standard output of a run that has to end well. */
  async prints(...args: readonly string[]): Promise<string> {
    const { code, stdout, stderr } = await this.run(...args);
    if (code !== 0) throw new Error(`kubectl ${args.join(' ')} ended with ${code}: ${stderr}`);
    return stdout;
  }
}

/** Tests of one subject with every kubectl that there is, on one node with the pods that `prepare` makes. */
export function describeKubectl(
  subject: string,
  prepare: (node: ClusterNode) => Promise<unknown>,
  tests: (kubectl: KubectlOnNode) => void,
): void {
  describe(`kubectl ${subject}`, { timeout: 300_000 }, () => {
    const shared = sharedNode();
    let node: ClusterNode;
    before(async () => {
      const clientCa = join(clusterDirectory(), 'pki/ca.crt');
      node = await shared.start(`--client-ca-file=${clientCa}`, '--anonymous-auth=false', '--authorization-mode=Webhook');
      await prepare(node);
    });
    after(() => shared.stop());
    for (const kubectl of kubectls()) {
      describe(`of ${kubectl.version}`, () => tests(new KubectlOnNode(kubectl, () => node)));
    }
  });
}
