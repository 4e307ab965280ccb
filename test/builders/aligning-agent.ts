import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { stateFiles } from '../../src/agent/state-files.ts';
import { silentLogger } from '../../src/base/logger.ts';
import { NodeUse } from '../../src/model/node-use.ts';
import type { ResourceList } from '../../src/model/node.ts';
import type { Pod } from '../../src/model/pod.ts';
import type { KubeletOptions } from '../../src/options/kubelet-options.ts';
import type { Contribution } from '../../src/ports/contribution.ts';
import type { NodeParts } from '../../src/ports/node-parts.ts';
import type { TopologyHintProvider } from '../../src/ports/topology-hint-provider.ts';
import { capability } from '../../src/topology/capability.ts';
import { type MachineShape, writeMachine } from './machine.ts';
import { nodeUnderTest, type NodeUnderTest, nothingGiven, runServices } from './node-parts.ts';

export interface AligningWorld {
  readonly shape: MachineShape;
  /** Of an agent before; absent: a new one. */
  readonly rootDir: string;
  readonly over: Partial<Pick<NodeParts, 'lives' | 'files'>>;
  /** What the node keeps from pods. */
  readonly reserved: ResourceList;
  /** Of other capabilities. */
  readonly hints: readonly TopologyHintProvider[];
}

/** The topology capability by itself, on a machine that was made up. */
export interface AligningAgent extends NodeUnderTest {
  readonly contribution: Contribution;
  readonly rootDir: string;
  /** As cpusOf, or why not; what is refused is released. */
  readonly admit: (pod: Pod) => Promise<string>;
  /** "app 1-2, log 0,3" */
  readonly cpusOf: (pod: Pod) => string;
  readonly begin: () => { readonly stop: () => Promise<void> };
}

/** A directory for the test alone. */
export async function aRootDir(t: TestContext): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), 'topology-'));
  t.after(() => rm(path, { recursive: true, force: true }));
  return path;
}

export async function aligningAgent(
  t: TestContext,
  options: Partial<KubeletOptions>,
  { shape = {}, rootDir, over = {}, reserved = {}, hints = [] }: Partial<AligningWorld> = {},
): Promise<AligningAgent> {
  const { signal } = new AbortController();
  const root = await aRootDir(t);
  await writeMachine(root, shape);
  const kept = rootDir ?? (await aRootDir(t));
  const files = stateFiles(kept, { log: silentLogger });
  const parts = nodeUnderTest({ files, ...over, options: { rootDir: kept, ...options } });
  parts.node.node.resources.reserve('test', reserved);
  const contribution = await capability(parts.node, { root });
  const cpusOf = ({ metadata: { uid }, spec }: Pod): string =>
    spec.containers.map(({ name }) => `${name} ${contribution.pod?.cpuset?.(uid, name)}`).join(', ');
  return {
    ...parts,
    contribution,
    rootDir: kept,
    cpusOf,
    admit: async (pod) => {
      const refusal = await contribution.pod?.admit?.(pod, new NodeUse(), signal);
      if (!refusal) return cpusOf(pod);
      await contribution.pod?.release?.(pod.metadata.uid, signal);
      return `${refusal.reason}: ${refusal.message}`;
    },
    begin: () => runServices(contribution.services, { ...nothingGiven, hints }),
  };
}
