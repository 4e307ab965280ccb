import type { ProvidedResources } from '../ports/this-node.ts';
import { map, merge, type Observable } from 'rxjs';
import { anySignal } from '../base/any-signal.ts';
import type { Clock } from '../base/clock.ts';
import { drainInto } from '../base/drain-into.ts';
import { errorText } from '../base/error-text.ts';
import { exponential } from '../base/exponential.ts';
import { jitter } from '../base/jitter.ts';
import type { JsonObject } from '../base/json-object.ts';
import type { Logger } from '../base/logger.ts';
import { OngoingFaults } from '../base/ongoing-faults.ts';
import type { Service } from '../base/service.ts';
import { isNotFound } from '../model/api-error.ts';
import type { Node, NodeStatus } from '../model/node.ts';
import type { KubeApi, ResourceEvent } from '../ports/kube-api.ts';
import { type ComposedNode, composeNodeStatus, type NodeFacts } from './compose-node-status.ts';
import { droppedFields, withoutDropped, type YoungField } from './dropped-fields.ts';
import type { GivenCondition, NodeErrors } from './node-conditions.ts';
import { type NodeEvent, nodeStatusEvent } from './node-event.ts';
import { isReportDue, nodeStatusHasChanged, nodeStatusPatch } from './node-status-changed.ts';
import { explainRefusal, nodePath, registerNode } from './register-node.ts';

export interface NodeStatusReporterDeps {
  readonly clock: Clock;
  readonly log: Logger;
  /** The heartbeat door. */
  readonly api: KubeApi;
  readonly nodeName: string;
  /** The Node to register, its status aside; undefined with --register-node=false: another makes it. */
  readonly initial: Node | undefined;
  readonly facts: (signal: AbortSignal) => Promise<NodeFacts>;
  /** Why the node is not ready, now. */
  readonly errors: () => NodeErrors;
  /** What its participants say of the node, now. */
  readonly conditions: () => readonly GivenCondition[];
  /** Undefined: not known yet. A pod waits for its volume to be among them. */
  readonly volumesInUse?: () => readonly string[] | undefined;
  /** What the node has besides the machine's, now. */
  readonly provided: () => ProvidedResources;
  /** Emits when one of these may say something else. */
  readonly wakes: Observable<unknown>;
  /** This node as the informer has it. */
  readonly nodes: Observable<ResourceEvent<Node>>;
  /** About the node, for the event recorder. */
  readonly record: (event: NodeEvent) => void;
  /** How often the status is computed, and how often it is sent in any case, from now on. */
  readonly frequencies: () => { readonly updateMs: number; readonly reportMs: number };
  readonly random?: () => number;
}

/** pkg/kubelet nodeStatusUpdateRetry. */
const UPDATE_TRIES = 5;
/** pkg/kubelet registerWithAPIServer. */
const registerBackoffMs = exponential(100, 7_000);
const firstRetryMs = 1_000;
/** Changes of readiness and conditions that come closer together are sent together. */
const READINESS_GAP_MS = 100;
/** Devices of a plugin come one after the other, and may come and go. */
const RESOURCES_GAP_MS = 1_000;
/** Another writer's change of our status is put right, but two who disagree do not fight in a tight loop. */
const FOREIGN_CHANGE_GAP_MS = 1_000;
const PERIOD_JITTER = 0.04;

type News = { readonly kind: 'wake' } | { readonly kind: 'node'; readonly event: ResourceEvent<Node> };

/**
 * Registers the node and keeps its status true: computed every `updateMs` and when readiness, a condition or what is provided changes, sent when it
 * differs from what the API server has, and every `reportMs` in any case.
 */
export class NodeStatusReporter implements Service {
  readonly name = 'node status';
  readonly #deps: NodeStatusReporterDeps;
  /** As the API server is last known to have it. */
  #latest: Node | undefined;
  /** As it was last computed, with what was said of it. */
  #composed: { readonly status: NodeStatus; readonly said: string; readonly provided: string } | undefined;
  #registered: boolean;
  /** On the clock's monotonic time. */
  #lastReportMs: number | undefined;
  /** What the API server does not know. Asked again with each report that is due: it may have become a newer one. */
  #dropped: readonly YoungField[] = [];
  #unschedulable = false;
  #failures = 0;
  readonly #faults = new OngoingFaults<string>();
  /** A computation was asked for, not before so long after the last one. */
  #wakeGapMs: number | undefined;
  #rouse = (): void => {};

  constructor(deps: NodeStatusReporterDeps) {
    this.#deps = deps;
    this.#registered = deps.initial === undefined;
  }

  async run(signal: AbortSignal): Promise<void> {
    const { nodes, wakes } = this.#deps;
    const news: Observable<News> = merge(
      nodes.pipe(map((event): News => ({ kind: 'node', event }))),
      wakes.pipe(map((): News => ({ kind: 'wake' }))),
    );
    using stop = anySignal(signal);
    const hearing = drainInto(news, (item) => this.#hear(item), stop.signal).catch((error: unknown) => {
      stop.abort(error);
      throw error;
    });
    await Promise.all([hearing, this.#loop(stop.signal)]);
  }

  async #loop(signal: AbortSignal): Promise<void> {
    const { clock, frequencies, random } = this.#deps;
    while (!signal.aborted) {
      this.#wakeGapMs = undefined;
      const { updateMs } = frequencies();
      let pauseMs = jitter(updateMs, PERIOD_JITTER, random);
      try {
        await this.sync(signal);
        this.#succeeded();
      } catch (error) {
        if (signal.aborted) return;
        this.#failures++;
        pauseMs = this.#registered ? exponential(firstRetryMs, updateMs)(this.#failures) : registerBackoffMs(this.#failures);
        this.#failed(error, pauseMs);
      }
      await this.#pause(pauseMs, clock.monotonicMs(), signal);
    }
  }

  /** Registers the node if that is still to be done, and sends its status if that is due. Rejects when it could not. */
  async sync(signal: AbortSignal): Promise<void> {
    const facts = await this.#deps.facts(signal);
    if (!this.#registered) await this.#register(facts, signal);
    await this.#update(facts, signal);
  }

  async #register(facts: NodeFacts, signal: AbortSignal): Promise<void> {
    const { api, log, initial } = this.#deps;
    const first = this.#compose(initial ?? {}, facts);
    const { node, created } = await registerNode(first.node, { api, log }, signal);
    this.#registered = true;
    this.#failures = 0;
    this.#see(node);
    if (!created) return;
    this.#dropped = droppedFields(first.node.status, node.status ?? {});
    this.#lastReportMs = this.#deps.clock.monotonicMs();
    this.#record(first.events);
    // A kubelet registers before it is ready and tells of it afterwards. This one may be ready from the beginning, and who reads the node's events looks for that.
    if (isNodeReady(first.node)) this.#record([nodeStatusEvent(this.#deps.nodeName, 'NodeReady')]);
  }

  async #update(facts: NodeFacts, signal: AbortSignal): Promise<void> {
    const { clock, api, frequencies, log } = this.#deps;
    const nowMs = clock.monotonicMs();
    const times = { nowMs, lastReportMs: this.#lastReportMs, reportFrequencyMs: frequencies().reportMs };
    if (isReportDue(times)) this.#dropped = [];
    for (let tried = 0; ; tried++) {
      try {
        // A retry looks again: what is known may be what it failed for.
        const before = (tried === 0 ? this.#latest : undefined) ?? (await this.#read(tried === 0, signal));
        const { node, events } = this.#compose(before, facts);
        const patch = nodeStatusPatch(before, node, times);
        if (patch === undefined) return;
        const answer = await this.#send(patch, signal);
        this.#dropped = [...this.#dropped, ...droppedFields(node.status, answer.status ?? {})];
        this.#see(answer);
        this.#lastReportMs = nowMs;
        this.#record(events);
        return;
      } catch (error) {
        signal.throwIfAborted();
        if (isNotFound(error)) this.#latest = undefined;
        if (isNotFound(error) || tried + 1 >= UPDATE_TRIES) throw error;
        if (tried > 0) api.closeConnections();
        log.v(2, 'node status failed, retrying', { error });
      }
    }
  }

  /** From the API server's cache at first; that spares its database. */
  async #read(cached: boolean, signal: AbortSignal): Promise<Node> {
    const { api, nodeName } = this.#deps;
    const node = await api.request<Node>(
      { method: 'GET', path: nodePath(nodeName), ...(cached && { query: { resourceVersion: 0 } }) },
      signal,
    );
    this.#see(node);
    return node;
  }

  #send(body: JsonObject, signal: AbortSignal): Promise<Node> {
    const { api, nodeName } = this.#deps;
    const contentType = 'application/strategic-merge-patch+json';
    return api.request<Node>({ method: 'PATCH', path: `${nodePath(nodeName)}/status`, contentType, body }, signal);
  }

  #compose(node: Node, facts: NodeFacts): ComposedNode {
    const whole = composeNodeStatus(node, facts);
    const composed = { ...whole, node: { ...whole.node, status: withoutDropped(whole.node.status, this.#dropped) } };
    this.#composed = {
      status: composed.node.status,
      said: JSON.stringify([facts.readiness.errors, facts.conditions, facts.volumesInUse]),
      provided: ofResources(facts.devices ?? nothingProvided),
    };
    for (const fault of composed.faults) if (this.#faults.fault(fault)) this.#deps.log.warn('node status incomplete', { fault });
    return composed;
  }

  #hear(news: News): void {
    if (news.kind === 'wake') {
      const { errors, conditions, volumesInUse, provided } = this.#deps;
      const said = JSON.stringify([errors(), conditions(), volumesInUse?.()]);
      if (this.#composed?.said !== said) this.#wake(READINESS_GAP_MS);
      else if (this.#composed?.provided !== ofResources(provided())) this.#wake(RESOURCES_GAP_MS);
      return;
    }
    const { event } = news;
    const node = event.kind === 'reset' ? event.items[0] : event.item;
    if (!node || event.kind === 'drop') {
      // Perhaps no more than listed before it was registered: the next computation reads it.
      this.#latest = undefined;
      return;
    }
    if (isOlder(node, this.#latest)) return;
    this.#see(node);
    if (this.#composed && nodeStatusHasChanged(node.status ?? {}, this.#composed.status)) this.#wake(FOREIGN_CHANGE_GAP_MS);
  }

  #see(node: Node): void {
    this.#latest = node;
    const unschedulable = node.spec?.unschedulable ?? false;
    if (unschedulable === this.#unschedulable) return;
    this.#unschedulable = unschedulable;
    this.#record([nodeStatusEvent(this.#deps.nodeName, unschedulable ? 'NodeNotSchedulable' : 'NodeSchedulable')]);
  }

  #record(events: readonly NodeEvent[]): void {
    for (const event of events) this.#deps.record(event);
  }

  #wake(gapMs: number): void {
    this.#wakeGapMs = Math.min(gapMs, this.#wakeGapMs ?? gapMs);
    this.#rouse();
  }

  /** Until `pauseMs` have passed since `sinceMs`, or less when woken. */
  async #pause(pauseMs: number, sinceMs: number, signal: AbortSignal): Promise<void> {
    const { clock } = this.#deps;
    while (!signal.aborted) {
      const leftMs = sinceMs + Math.min(pauseMs, this.#wakeGapMs ?? pauseMs) - clock.monotonicMs();
      if (leftMs <= 0) return;
      using roused = anySignal(signal);
      this.#rouse = () => roused.abort();
      await clock.sleep(leftMs, roused.signal).catch(() => {});
    }
  }

  #failed(error: unknown, retryInMs: number): void {
    const { nodeName, log, initial } = this.#deps;
    const what = this.#registered ? 'node status cannot be sent, retrying' : 'the node cannot be registered, retrying';
    const explained = isNotFound(error) ? missingNode(initial !== undefined) : explainRefusal(error, nodeName);
    const text = explained ?? errorText(error);
    if (!this.#faults.fault(what + text)) {
      log.v(2, what, { error, retryInMs });
      return;
    }
    log.error(what, { node: nodeName, error, ...(explained !== undefined && { remedy: explained }), retryInMs });
  }

  #succeeded(): void {
    if (this.#failures > 0) {
      this.#deps.log.info('node status sent again', { failures: this.#failures });
      this.#faults.clear();
    }
    this.#failures = 0;
  }
}

const nothingProvided: ProvidedResources = { capacity: {}, allocatable: {} };
const ofResources = ({ capacity, allocatable }: ProvidedResources): string => JSON.stringify([capacity, allocatable]);

/** Not registered a second time by itself, as a node is deleted on purpose. */
const missingNode = (registers: boolean): string =>
  registers
    ? 'the Node was deleted from the API server: restart the agent to register it again'
    : 'there is no Node of this name: create it, or let the agent do so with --register-node=true';

/** Of the same object, written before it: an informer may lag behind the answers to our own writes. */
function isOlder(node: Node, than: Node | undefined): boolean {
  const [a, b] = [node.metadata, than?.metadata];
  if (a?.uid !== b?.uid || !isVersion(a?.resourceVersion) || !isVersion(b?.resourceVersion)) return false;
  return BigInt(a.resourceVersion) < BigInt(b.resourceVersion);
}

const isVersion = (text: string | undefined): text is string => text !== undefined && /^\d+$/.test(text);

function isNodeReady({ status }: Node): boolean {
  return status?.conditions?.some(({ type, status: is }) => type === 'Ready' && is === 'True') ?? false;
}
