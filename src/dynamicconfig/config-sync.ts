import type { V1ConfigMap } from '@kubernetes/client-node';
import { type Observable, Subject } from 'rxjs';
import { errorText } from '../base/error-text.ts';
import { OngoingFaults } from '../base/ongoing-faults.ts';
import { eventNamer } from '../model/event-name.ts';
import { eventSource, kubeEvent } from '../model/kube-event.ts';
import { nodeReference } from '../model/object-reference.ts';
import type { Node } from '../model/node.ts';
import { apiPathOf, type ConfigMapSource, type DownloadedSource, type NodeConfigs, nodeConfigErrors } from '../model/node-config.ts';
import type { Wire } from '../model/wire.ts';
import type { NodeParts } from '../ports/node-parts.ts';
import type { CheckpointStore } from './checkpoint-store.ts';
import { downloadedFaults, sameSource, sourceFaults } from './config-source.ts';

type Needs = Pick<NodeParts, 'clock' | 'log' | 'cluster' | 'node' | 'config'>;
type SyncError = (typeof nodeConfigErrors)[keyof typeof nodeConfigErrors];

/** How long an assigned configuration has to be in use before it is known to be good (configTrialDuration). */
const TRIAL_MS = 10 * 60_000;
const EVENT_WITHIN_MS = 2_000;
/** A configuration that changes all the time restarts the agent no more often. */
const MIN_RUN_MS = 5_000;

class SyncFailure extends Error {
  readonly shown: SyncError;
  constructor(shown: SyncError, message: string, cause?: unknown) {
    super(message, { cause });
    this.shown = shown;
  }
}

/** What Node.spec.configSource names is downloaded and assigned, and the agent starts again with it (pkg/kubelet/kubeletconfig/configsync.go). */
export class ConfigSync {
  readonly #needs: Needs;
  readonly #store: CheckpointStore;
  readonly #beganMs: number;
  readonly #changed = new Subject<void>();
  readonly #faults = new OngoingFaults<'sync'>();
  #configs: NodeConfigs;
  /** Goes before that of the start. */
  #syncError: SyncError | undefined;

  constructor(needs: Needs, store: CheckpointStore, configs: NodeConfigs) {
    this.#needs = needs;
    this.#store = store;
    this.#configs = configs;
    this.#beganMs = needs.clock.monotonicMs();
  }

  /** As Node.status.config is to say now. */
  get configs(): NodeConfigs {
    return { ...this.#configs, error: this.#syncError ?? this.#configs.error };
  }

  get changes(): Observable<void> {
    return this.#changed;
  }

  /** Takes what the Node says. False: it could not, and should be tried again. */
  async sync(node: Node, signal: AbortSignal): Promise<boolean> {
    try {
      const { configSource } = node.spec ?? {};
      if (configSource === undefined) await this.#assign(undefined, signal);
      else await this.#assign(await this.#download(configSource.configMap, signal), signal);
      this.#setError(undefined);
      if (this.#faults.over('sync')) this.#needs.log.info("the node's configuration can be had again");
      return true;
    } catch (error) {
      signal.throwIfAborted();
      this.#setError(error instanceof SyncFailure ? error.shown : nodeConfigErrors.internal);
      if (this.#faults.fault('sync', error)) this.#needs.log.error("the node's configuration cannot be had, retrying", { error });
      return false;
    }
  }

  /** When the trial period of what is in use is over it is the last known good one. */
  async checkTrial(): Promise<void> {
    const { clock, log } = this.#needs;
    const { assigned, active, lastKnownGood } = this.#configs;
    // What has been assigned since then is another agent's to try.
    if (!sameSource(assigned, active) || sameSource(assigned, lastKnownGood)) return;
    try {
      if (clock.now() - (await this.#store.assignedAtMs()) <= TRIAL_MS) return;
      await this.#store.set('last-known-good', assigned);
    } catch (error) {
      if (this.#faults.fault('sync', error)) log.error('the configuration in use cannot be noted as good, retrying', { error });
      return;
    }
    log.info('the configuration has passed its trial period, and is the last known good one', { source: shown(assigned) });
    this.#configs = { ...this.#configs, lastKnownGood: assigned };
    this.#changed.next();
  }

  async #download(ref: ConfigMapSource | undefined, signal: AbortSignal): Promise<DownloadedSource> {
    if (ref === undefined) throw new SyncFailure(nodeConfigErrors.noSource, 'spec.configSource of the Node names no ConfigMap');
    const [fault] = sourceFaults(ref);
    if (fault !== undefined) throw new SyncFailure(nodeConfigErrors.internal, `spec.configSource of the Node cannot be used: ${fault}`);
    const path = apiPathOf(ref);
    const { metadata, data = {} } = await this.#needs.cluster.clients.main
      .request<Wire<V1ConfigMap>>({ method: 'GET', path }, signal)
      .catch((cause: unknown) => {
        signal.throwIfAborted();
        throw new SyncFailure(nodeConfigErrors.download, `${path} cannot be downloaded: ${errorText(cause)}`, cause);
      });
    const { namespace, name, kubeletConfigKey } = ref;
    const source = { namespace, name, kubeletConfigKey, uid: metadata?.uid ?? '', resourceVersion: metadata?.resourceVersion ?? '' };
    const [wrong] = downloadedFaults(source);
    if (wrong !== undefined) throw new SyncFailure(nodeConfigErrors.internal, `${path} cannot be used: ${wrong}`);
    if (!(await this.#store.has(source))) await this.#store.save(source, data);
    return source;
  }

  async #assign(source: DownloadedSource | undefined, signal: AbortSignal): Promise<void> {
    const { clock, log, config } = this.#needs;
    if (sameSource(source, this.#configs.assigned)) {
      if (source === undefined && this.#configs.lastKnownGood !== undefined) {
        await this.#store.set('last-known-good', undefined);
        this.#configs = { ...this.#configs, lastKnownGood: undefined };
      }
      return;
    }
    const waitMs = this.#beganMs + MIN_RUN_MS - clock.monotonicMs();
    if (waitMs > 0) await clock.sleep(waitMs, signal);
    if (source === undefined) await this.#store.set('last-known-good', undefined);
    await this.#store.set('assigned', source);
    await this.#store.keepOnly([source, this.#configs.active, source && this.#configs.lastKnownGood]);
    this.#configs = { ...this.#configs, assigned: source };
    log.info('the node has another configuration: ending, to be started again with it', { source: shown(source) });
    await this.#tellRestart(`Kubelet restarting to use ${source === undefined ? 'local config' : shown(source)}`, signal);
    config.restart();
  }

  /** By itself: what is recorded may not be sent before the agent ends. An event that cannot be sent is none. */
  async #tellRestart(message: string, signal: AbortSignal): Promise<void> {
    const { clock, log, cluster, node } = this.#needs;
    const body = kubeEvent({
      name: eventNamer(clock)(node.name),
      atMs: clock.now(),
      involvedObject: nodeReference(node.name),
      type: 'Normal',
      reason: 'KubeletConfigChanged',
      message,
      source: eventSource(node.name),
    });
    const path = '/api/v1/namespaces/default/events';
    await cluster.clients.events.request({ method: 'POST', path, body, timeoutMs: EVENT_WITHIN_MS }, signal).catch((error: unknown) => {
      log.v(2, 'the event of the restart was not sent', { error });
    });
  }

  #setError(error: SyncError | undefined): void {
    if (error === this.#syncError) return;
    this.#syncError = error;
    this.#changed.next();
  }
}

/** In the original's words. */
const shown = (source: DownloadedSource | undefined): string =>
  source === undefined
    ? 'local'
    : `${apiPathOf(source)}, UID: ${source.uid}, ResourceVersion: ${source.resourceVersion}, KubeletConfigKey: ${source.kubeletConfigKey}`;
