import { randomUUID } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import type { Observable } from 'rxjs';
import type { V1Lease, V1Node, V1Pod, V1PodSpec } from '@kubernetes/client-node';
import { systemClock } from '../../../src/base/clock.ts';
import { silentLogger } from '../../../src/base/logger.ts';
import { kubeClients, type OwnedKubeClients } from '../../../src/cluster/kube/kube-clients.ts';
import { loadKubeconfig } from '../../../src/cluster/kube/load-kubeconfig.ts';
import { isNotFound } from '../../../src/model/api-error.ts';
import type { Wire } from '../../../src/model/wire.ts';
import type { ResourceEvent, WatchedObject } from '../../../src/ports/kube-api.ts';
import { RecordedHappenings } from '../../fakes/recorded-happenings.ts';
import { kubeconfigOf, kubectl, nodeKubeconfig } from '../../builders/cluster-under-test.ts';
import { AgentUnderTest } from '../../integration/agent/agent-under-test.ts';
import { pod as idle } from '../../integration/agent/pod-specs.ts';
import type { EngineContainer } from '../../integration/agent/test-engine.ts';
import { notTraced } from '../../../src/ports/tracing.ts';

export type NodeJson = Wire<V1Node> & WatchedObject;
export type PodJson = Wire<V1Pod> & WatchedObject;
type LeaseJson = Wire<V1Lease> & WatchedObject;

const patience = (): AbortSignal => AbortSignal.timeout(60_000);
const leasesPath = '/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases';
const podsPath = '/api/v1/namespaces/default/pods';

/** The agent as a node, beside a client of its own to the same API server, which outlives outages: kubectl's watches do not. */
export class NodeInTrouble {
  readonly name = `fault-${randomUUID().slice(0, 8)}`;
  readonly agent: AgentUnderTest;
  readonly api: OwnedKubeClients['main'];
  /** This node's pods by name, as last seen. */
  readonly pods = new Map<string, PodJson>();
  /** What was seen of the Node: whether it was Ready, and when. */
  readonly readiness: { readonly ready: boolean; readonly atMs: number }[] = [];
  /** When the lease was seen renewed. */
  readonly renewals: number[] = [];
  #renewTime: string | undefined;
  readonly #clients: OwnedKubeClients;
  #flags: readonly string[] = [];

  private constructor(agent: AgentUnderTest, clients: OwnedKubeClients) {
    this.agent = agent;
    this.#clients = clients;
    this.api = clients.main;
  }

  /** Until the end of the test, when nothing of it is left. The agent does not run yet. */
  static async prepare(test: TestContext): Promise<NodeInTrouble> {
    const [clock, log] = [systemClock, silentLogger];
    const access = await loadKubeconfig(kubeconfigOf('admin'), { clock, log });
    const limit = { qps: 0, burst: 1 };
    const limits = { main: () => limit, events: () => limit, heartbeatTimeoutMs: 10_000 };
    const agent = await AgentUnderTest.prepare(test);
    const node = new NodeInTrouble(
      agent,
      kubeClients({ access, clock, log, ...limits, tell: new RecordedHappenings().tell, tracing: notTraced, userAgent: 'rxlet-test' }),
    );
    const stop = node.#watchAll();
    test.after(async () => {
      stop();
      await agent.kill('SIGKILL');
      await node.#clear();
    });
    return node;
  }

  /** A node that is Ready. */
  static async start(test: TestContext): Promise<NodeInTrouble> {
    const node = await NodeInTrouble.prepare(test);
    node.run(`--kubeconfig=${await nodeKubeconfig(node.name)}`);
    await node.ready();
    return node;
  }

  /** Starts the agent's process, with other flags where given. */
  run(...flags: string[]): void {
    if (flags.length > 0) this.#flags = flags;
    this.agent.run(`--hostname-override=${this.name}`, `--cert-dir=${join(this.agent.dir, 'pki')}`, ...this.#flags);
  }

  /** The kubeconfig `from`, for a server at another port of this machine. */
  async kubeconfigAt(port: number, from: string): Promise<string> {
    const file = join(this.agent.dir, 'moved.kubeconfig');
    await writeFile(file, (await readFile(from, 'utf8')).replace(/(server: "?https:\/\/127\.0\.0\.1):\d+/, `$1:${port}`));
    return file;
  }

  ready(): Promise<void> {
    return this.until('the node is Ready', () => this.readiness.at(-1)?.ready);
  }

  async until(what: string, look: () => boolean | undefined | Promise<boolean>): Promise<void> {
    try {
      await this.agent.until(what, look);
    } catch (cause) {
      throw new Error(`${what}: not seen; the pods are ${this.#story}`, { cause });
    }
  }

  /** A pod's name, not met by other tests' pods in the engine. */
  called(name: string): string {
    return `${this.agent.prefix}${name}`;
  }

  /** A static pod's name, which has the node's at its end. */
  staticPod(name: string): string {
    return `${this.called(name)}-${this.name}`;
  }

  /** As the scheduler would have bound it. Resolves with its uid when it has been seen. */
  async create(name: string, spec: Omit<V1PodSpec, 'nodeName'> = idle()): Promise<string> {
    const body = {
      metadata: { name: this.called(name) },
      spec: { ...spec, nodeName: this.name, automountServiceAccountToken: false },
    };
    const { metadata } = await this.api.request<PodJson>({ method: 'POST', path: podsPath, body }, patience());
    await this.until(`${name} is seen`, () => this.pod(name)?.metadata.uid === metadata.uid);
    return metadata.uid;
  }

  /** Asks for its deletion; with 0 the object goes at once. Whether it is gone already does not matter. */
  async remove(name: string, gracePeriodSeconds?: number): Promise<void> {
    const body = gracePeriodSeconds === undefined ? {} : { gracePeriodSeconds };
    await ignoringNotFound(this.api.request({ method: 'DELETE', path: `${podsPath}/${this.called(name)}`, body }, patience()));
  }

  pod(name: string): PodJson | undefined {
    return this.pods.get(this.called(name));
  }

  /** Waits until the API shows these pods as Ready. */
  up(...names: readonly string[]): Promise<void> {
    return this.until(`${names.join(', ')} are Ready`, () => names.every((name) => isReady(this.pod(name))));
  }

  /** By "POD" or container name, of the pods of this name. */
  async containers(name: string): Promise<readonly EngineContainer[]> {
    return (await this.agent.engine.containers()).filter(({ pod }) => pod === this.called(name));
  }

  /** Hears at once that the API server is back, where watches would wait. */
  async isBack(): Promise<void> {
    await this.api.request({ method: 'GET', path: '/api/v1/namespaces/default' }, patience());
  }

  #watchAll(): () => void {
    const { informer } = this.#clients;
    const named = `metadata.name=${this.name}`;
    const pods = informer<PodJson>({ path: podsPath, fieldSelector: `spec.nodeName=${this.name}` });
    const nodes = informer<NodeJson>({ path: '/api/v1/nodes', fieldSelector: named });
    const leases = informer<LeaseJson>({ path: leasesPath, fieldSelector: named });
    const stops = [
      this.#watch(pods, (pod, there) => {
        if (there) this.pods.set(pod.metadata.name, pod);
        // The name may be another pod's by now.
        else if (this.pods.get(pod.metadata.name)?.metadata.uid === pod.metadata.uid) this.pods.delete(pod.metadata.name);
      }),
      this.#watch(nodes, (node, there) => {
        const ready = there && isReady(node);
        if (this.readiness.at(-1)?.ready !== ready) this.readiness.push({ ready, atMs: performance.now() });
      }),
      this.#watch(leases, ({ spec }) => {
        if (spec?.renewTime !== this.#renewTime) this.renewals.push(performance.now());
        this.#renewTime = spec?.renewTime;
      }),
    ];
    return () => stops.forEach((stop) => stop());
  }

  #watch<T extends WatchedObject>(events: Observable<ResourceEvent<T>>, told: (object: T, there: boolean) => void): () => void {
    let known = new Map<string, T>();
    const subscription = events.subscribe((event) => {
      if (event.kind === 'reset') {
        const now = new Map(event.items.map((item) => [item.metadata.uid, item]));
        for (const [uid, item] of known) if (!now.has(uid)) told(item, false);
        known = now;
        for (const item of event.items) told(item, true);
      } else {
        if (event.kind === 'drop') known.delete(event.item.metadata.uid);
        else known.set(event.item.metadata.uid, event.item);
        told(event.item, event.kind === 'put');
      }
      this.agent.look();
    });
    return () => subscription.unsubscribe();
  }

  get #story(): string {
    const pods = [...this.pods.values()];
    return pods
      .map((pod) => {
        const { metadata, status } = pod;
        return `${metadata.name} ${status?.phase}${isReady(pod) ? '' : ' (not ready)'}${metadata.deletionTimestamp ? ' (deleted)' : ''}`;
      })
      .join(', ');
  }

  /** Nobody is left to end the pods that are still there. */
  async #clear(): Promise<void> {
    const selector = `--field-selector=spec.nodeName=${this.name}`;
    await kubectl('delete', 'pods', selector, '--force', '--grace-period=0');
    // With the node its lease goes.
    await kubectl('delete', 'node', this.name, '--ignore-not-found');
    await this.#clients.close();
  }
}

/** Of a Node or a pod. */
export const isReady = (object: NodeJson | PodJson | undefined): boolean =>
  object?.status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True') ?? false;

async function ignoringNotFound(asked: Promise<unknown>): Promise<void> {
  try {
    await asked;
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
}
