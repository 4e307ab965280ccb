import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import type { CoreV1Event, V1Node, V1ObjectMeta, V1Pod, V1PodSpec } from '@kubernetes/client-node';
import type { Wire } from '../../../src/model/wire.ts';
import { inTime } from '../../builders/in-time.ts';
import { kubeconfigOf, kubectl, nodeKubeconfig } from '../../builders/cluster-under-test.ts';
import { AgentUnderTest, DISPOSED_WITHIN_MS, type Disposer } from '../../integration/agent/agent-under-test.ts';
import type { Found } from '../../integration/agent/changes.ts';
import type { EngineContainer } from '../../integration/agent/test-engine.ts';
import { KubeWatch } from './kube-watch.ts';

/** How long an administrator's command may take. */
const TAKEN_WITHIN_MS = 120_000;

/** A class by its declaration, and spread all the same. */
type PodSpecJson = Pick<V1PodSpec, keyof V1PodSpec>;
export type NodeJson = Wire<V1Node>;
export type PodJson = Wire<V1Pod>;
export type EventJson = Wire<CoreV1Event>;

/** The agent as a node of the cluster under test, with a namespace of its own. It sees what kubectl shows. */
export class ClusterNode {
  readonly name = `e2e-${randomUUID().slice(0, 8)}`;
  readonly namespace = this.name;
  readonly agent: AgentUnderTest;
  readonly nodes: KubeWatch<NodeJson>;
  readonly pods: KubeWatch<PodJson>;
  readonly events: KubeWatch<EventJson>;
  #flags: readonly string[] = [];

  private constructor(agent: AgentUnderTest) {
    this.agent = agent;
    const told = (): void => agent.look();
    this.nodes = new KubeWatch(['nodes', '--field-selector', `metadata.name=${this.name}`], told);
    this.pods = new KubeWatch(['pods', '-n', this.namespace], told);
    // Events about nodes stand in the namespace "default".
    this.events = new KubeWatch(['events', '-A'], told);
  }

  /** Until the end of the test, when nothing of it is left. The agent does not run yet. */
  static async prepare(test: Disposer): Promise<ClusterNode> {
    // What is prepared first is disposed of last: the agent is gone then, and its containers with it.
    const agent = await AgentUnderTest.prepare(test);
    const node = new ClusterNode(agent);
    test.after(() => inTime(DISPOSED_WITHIN_MS, 'removing the node', node.#dispose()));
    await kubectl('create', 'namespace', node.namespace);
    return node;
  }

  /** A node that is Ready. */
  static async start(test: Disposer, ...flags: string[]): Promise<ClusterNode> {
    const node = await ClusterNode.prepare(test);
    // Without a server for the cluster's names every pod would be told that it has none.
    node.run(`--kubeconfig=${await nodeKubeconfig(node.name)}`, '--cluster-dns=10.96.0.10', ...flags);
    await node.ready();
    return node;
  }

  /** Starts the process, with other flags where given. Answers when. */
  run(...flags: string[]): number {
    if (flags.length > 0) this.#flags = [`--hostname-override=${this.name}`, `--cert-dir=${join(this.agent.dir, 'pki')}`, ...flags];
    const atMs = Date.now();
    this.agent.run(...this.#flags);
    return atMs;
  }

  /** Waits until the API shows the node as Ready since `sinceMs`, and answers when that was seen. */
  ready(sinceMs = 0): Promise<number> {
    return this.until('the node is Ready', () => this.nodes.seen.find(({ object, atMs }) => atMs >= sinceMs && isReady(object))?.atMs);
  }

  until<T>(what: string, look: () => Found<T> | Promise<Found<T>>): Promise<T> {
    return this.agent.until(what, look);
  }

  /** As the administrator, in this node's namespace. Resolves with what it printed; rejects with its complaint. */
  async kubectl(...args: readonly string[]): Promise<string> {
    const output = await kubectl('-n', this.namespace, ...args);
    this.agent.look();
    return output;
  }

  async apply(...objects: readonly object[]): Promise<void> {
    const child = spawn('kubectl', ['--kubeconfig', kubeconfigOf('admin'), '-n', this.namespace, 'apply', '-f', '-'], {
      stdio: ['pipe', 'ignore', 'pipe'],
    });
    const complaint = text(child.stderr);
    child.stdin.end(JSON.stringify({ apiVersion: 'v1', kind: 'List', items: objects }));
    const [code] = (await inTime(TAKEN_WITHIN_MS, 'kubectl apply', once(child, 'exit'))) as [number | null];
    if (code !== 0) throw new Error(`kubectl apply: ${await complaint}`);
  }

  /** A pod's name, not met by other tests' pods in the engine. */
  called(name: string): string {
    return `${this.agent.prefix}${name}`;
  }

  /** Creates a pod that only this node may run, bound by the scheduler. */
  async create(name: string, spec: PodSpecJson, metadata: Partial<V1ObjectMeta> = {}): Promise<void> {
    await this.apply({ apiVersion: 'v1', kind: 'Pod', metadata: { ...metadata, name: this.called(name) }, spec: this.here(spec) });
  }

  /** The same spec, for this node alone where it does not say otherwise. */
  here(spec: PodSpecJson): PodSpecJson {
    return { nodeSelector: { 'kubernetes.io/hostname': this.name }, ...spec };
  }

  pod(name: string): PodJson | undefined {
    return this.pods.get(this.called(name));
  }

  /** Waits until the API shows the pod so, and answers it. */
  async becomes(name: string, what: string, is: (pod: PodJson) => boolean): Promise<PodJson> {
    try {
      return await this.until(`pod ${name} is ${what}`, () => {
        const pod = this.pod(name);
        return pod && is(pod) ? pod : undefined;
      });
    } catch (error) {
      throw new Error(`the API shows ${JSON.stringify(this.pod(name)?.status) ?? 'no such pod'}`, { cause: error });
    }
  }

  phase(name: string, phase: string): Promise<PodJson> {
    return this.becomes(name, phase, ({ status }) => status?.phase === phase);
  }

  /** Running, and Ready. */
  up(name: string): Promise<PodJson> {
    return this.becomes(name, 'Ready', isPodReady);
  }

  async gone(name: string): Promise<void> {
    await this.until(`pod ${name} is gone from the API`, () => this.pod(name) === undefined);
  }

  async containers(name: string): Promise<readonly EngineContainer[]> {
    return (await this.agent.engine.containers()).filter(({ pod }) => pod.startsWith(this.called(name)));
  }

  /** Waits for an event of this reason about the object of this name. */
  event(about: string, reason: string, matches: (event: EventJson) => boolean = () => true): Promise<EventJson> {
    const found = (event: EventJson): boolean => event.involvedObject?.name === about && event.reason === reason && matches(event);
    return this.until(`an event ${reason} about ${about}`, () => this.events.list().find(found));
  }

  async #dispose(): Promise<void> {
    await this.agent.kill();
    await Promise.all([this.nodes.close(), this.pods.close(), this.events.close()]);
    // With the node its lease goes, and without it the cluster cleans up what still is bound to it.
    await kubectl('delete', 'node', this.name, '--ignore-not-found');
    await kubectl('delete', 'namespace', this.namespace, '--wait=false', '--ignore-not-found');
  }
}

const isReady = (node: NodeJson): boolean =>
  node.status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True') ?? false;

export const isPodReady = (pod: PodJson): boolean =>
  pod.status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True') ?? false;
