import { join } from 'node:path';
import { type Observable, Subject } from 'rxjs';
import { exists } from '../../base/exists.ts';
import type { Clock } from '../../base/clock.ts';
import { errorText } from '../../base/error-text.ts';
import type { Logger } from '../../base/logger.ts';
import { LruMap } from '../../base/lru-map.ts';
import { OngoingFaults } from '../../base/ongoing-faults.ts';
import { SerialByKey } from '../../base/serial-by-key.ts';
import { withDeadline } from '../../base/with-deadline.ts';
import type { Pod } from '../../model/pod.ts';
import type { SandboxId } from '../../ports/container-runtime.ts';
import type { SandboxNetwork, SandboxOwner } from '../../ports/sandbox-network.ts';
import { addToNetwork, type Attachment, type Calling, removeFromNetwork } from './call-network.ts';
import { capabilityArgs } from './capability-args.ts';
import type { ExecPlugin } from './exec-plugin.ts';
import { confDirState, loadNetwork } from './load-network.ts';
import { type NetworkList, parseConfList } from './network-list.ts';
import { resultAddresses } from './result-addresses.ts';
import { type CachedResult, type CniArgs, ResultCache } from './result-cache.ts';
import { SandboxLedger } from './sandbox-ledger.ts';

export interface CniNetworkDeps {
  readonly confDir: string;
  readonly binDirs: readonly string[];
  readonly cacheDir: string;
  /** Where it is kept which sandboxes hold something of the network. */
  readonly ledgerDir: string;
  readonly clock: Clock;
  readonly log: Logger;
  readonly exec: ExecPlugin;
  /** What a process's network namespace has. */
  readonly addressesIn: (pid: number, signal: AbortSignal) => Promise<readonly string[]>;
}

/** For all plugins of one set-up or tear-down together (pkg/kubelet/dockershim/network CNITimeoutSec). */
const DEADLINE_MS = 220_000;

/** Sandboxes: more than a node runs at a time. */
const MAX_REMEMBERED = 1_000;

/** Each sandbox has a loopback interface before anything else (pkg/kubelet/dockershim/network/cni getLoNetwork). */
const loopback = parseConfList('{"cniVersion":"0.2.0","name":"cni-loopback","plugins":[{"type":"loopback"}]}');

/**
 * Pods' network by CNI plugins, as dockershim had it: the same arguments, capabilities and cache files.
 *
 * INVARIANTS
 * - A sandbox is in the ledger from before its first ADD until after its last DEL.
 * - A sandbox that the ledger does not call connected has no address: an ADD was interrupted, and how far it came is unknown.
 * - One sandbox is set up or torn down by one call at a time.
 * - A configuration that was good stays in force until another good one is there.
 */
export class CniNetwork implements SandboxNetwork {
  readonly #deps: CniNetworkDeps;
  readonly #exec: ExecPlugin;
  readonly #cache: ResultCache;
  readonly #ledger: SandboxLedger;
  readonly #changed = new Subject<void>();
  readonly #turns = new SerialByKey<SandboxId>();
  /** Bounded: who looks at a sandbox while it goes may remember it after its end. */
  readonly #addresses = new LruMap<SandboxId, readonly string[]>(MAX_REMEMBERED);
  #network: NetworkList | undefined;
  /** The configuration directory as it was last read through; undefined: it is to be read again. */
  #seen: string | undefined;
  readonly #faults = new OngoingFaults<string>();

  constructor(deps: CniNetworkDeps) {
    this.#deps = deps;
    this.#exec = deps.exec;
    this.#cache = new ResultCache(deps.cacheDir);
    this.#ledger = new SandboxLedger(deps.ledgerDir);
  }

  /** Emits when there is another configuration in force. Hot. */
  get changes(): Observable<void> {
    return this.#changed;
  }

  readonly fault = (): string | undefined => {
    if (!this.#network) return 'cni config uninitialized';
    const wanted = this.#network.plugins.flatMap(({ capabilities }) => capabilities);
    return wanted.includes('ipRanges') ? 'cni config needs ipRanges but no PodCIDR set' : undefined;
  };

  /** Reads the configuration directory, if it has changed or gave nothing the last time. */
  async reload(signal: AbortSignal): Promise<void> {
    const { confDir, binDirs, log } = this.#deps;
    const state = await confDirState(confDir);
    if (state === this.#seen) return;
    const { network, file, fault, skipped } = await loadNetwork(confDir, binDirs, this.#exec, signal);
    for (const { file: bad, why } of skipped) this.#sayOnce(`${bad} ${why}`, 'CNI configuration skipped', { file: bad, error: why });
    if (fault !== undefined) this.#sayOnce(fault, 'no CNI configuration', { error: fault, keeps: this.#network?.name });
    this.#seen = network ? state : undefined;
    if (!network || network.text === this.#network?.text) return;
    this.#network = network;
    this.#faults.clear();
    log.info('CNI configuration', { network: network.name, file, plugins: network.plugins.map(({ type }) => type).join(', ') });
    this.#changed.next();
  }

  setUp(pod: Pod, id: SandboxId, pid: number, signal: AbortSignal): Promise<readonly string[]> {
    return this.#turns.run(id, () =>
      this.#saying('set up', pod.metadata, async () => {
        const network = this.#network;
        const fault = this.fault();
        if (!network || fault !== undefined) throw new Error(fault);
        const to = { containerId: id, netns: netnsOf(pid), args: cniArgs(pod.metadata, id), capabilityArgs: capabilityArgs(pod) };
        const { name, namespace } = pod.metadata;
        await this.#ledger.put(id, { name, namespace, connected: false });
        const result = await withDeadline(this.#deps.clock, DEADLINE_MS, 'CNI plugins', signal, async (within) => {
          await this.#add(loopback, { ...to, capabilityArgs: {} }, within);
          return this.#add(network, to, within);
        });
        await this.#ledger.put(id, { name, namespace, connected: true });
        const addresses = resultAddresses(result);
        return this.#remember(id, addresses.length > 0 ? addresses : await this.#look(pid, signal));
      }),
    );
  }

  async addresses(id: SandboxId, pid: number, signal: AbortSignal): Promise<readonly string[]> {
    const known = this.#addresses.get(id);
    if (known) return known;
    if ((await this.#ledger.entries()).get(id)?.connected === false) return [];
    // The loopback plugin tells of an address, too.
    const results = (await this.#cache.ofSandbox(id)).filter(({ networkName }) => networkName !== loopback.name);
    const addresses = results.map(({ result }) => resultAddresses(result)).find((each) => each.length > 0);
    return this.#remember(id, addresses ?? (await this.#look(pid, signal)));
  }

  tearDown(id: SandboxId, owner: SandboxOwner | undefined, pid: number | undefined, signal: AbortSignal): Promise<void> {
    return this.#turns.run(id, async () => {
      this.#addresses.delete(id);
      const noted = (await this.#ledger.entries()).get(id);
      const results = await this.#cache.ofSandbox(id);
      if (!noted && results.length === 0) return;
      const of = owner ?? noted ?? { name: '', namespace: '' };
      await this.#saying('teardown', of, () =>
        withDeadline(this.#deps.clock, DEADLINE_MS, 'CNI plugins', signal, async (within) => {
          const netns = pid !== undefined && (await exists(netnsOf(pid))) ? netnsOf(pid) : '';
          const from = { containerId: id, netns, args: cniArgs(of, id), capabilityArgs: {} };
          await this.#removeLoopback(from, within);
          const cached = results.filter(({ networkName }) => networkName !== loopback.name);
          if (cached.length > 0) for (const each of cached) await this.#removeCached(each, from, within);
          else await this.#removeUncached(from, within);
          await this.#cache.remove(loopback.name, id);
        }),
      );
      await this.#ledger.remove(id);
    });
  }

  async holders(owner?: SandboxOwner): Promise<readonly SandboxId[]> {
    const all = [...(await this.#ledger.entries())];
    const theirs = all.filter(([, { name, namespace }]) => !owner || (name === owner.name && namespace === owner.namespace));
    return theirs.map(([id]) => id);
  }

  async #add(network: NetworkList, to: Attachment, signal: AbortSignal): Promise<CachedResult['result']> {
    const result = await addToNetwork(this.#calling, network, to, signal);
    const { containerId, args, capabilityArgs: capabilities } = to;
    const asked = { containerId, networkName: network.name, config: network.text, cniArgs: args, capabilityArgs: capabilities };
    await this.#cache.put({ ...asked, result });
    return result;
  }

  /** With the configuration that it was connected with, whatever is in force now. */
  async #removeCached(
    { config, networkName, capabilityArgs: capabilities, cniArgs: args, result }: CachedResult,
    from: Attachment,
    signal: AbortSignal,
  ): Promise<void> {
    const network = parseConfList(config);
    const as = { ...from, capabilityArgs: capabilities, args: args.length > 0 ? args : from.args };
    await removeFromNetwork(this.#calling, network, as, result, signal);
    await this.#cache.remove(networkName, from.containerId);
  }

  /** An ADD was begun and not finished: what it did is unknown. */
  async #removeUncached(from: Attachment, signal: AbortSignal): Promise<void> {
    if (!this.#network) throw new Error(this.fault());
    await removeFromNetwork(this.#calling, this.#network, from, undefined, signal);
  }

  async #removeLoopback(from: Attachment, signal: AbortSignal): Promise<void> {
    try {
      await removeFromNetwork(this.#calling, loopback, from, undefined, signal);
    } catch (error) {
      signal.throwIfAborted();
      this.#deps.log.v(2, 'CNI failed to delete loopback network', { sandbox: from.containerId, error });
    }
  }

  get #calling(): Calling {
    return { binDirs: this.#deps.binDirs, exec: this.#exec };
  }

  /** Only what was found is remembered: who has no address may get one. */
  #remember(id: SandboxId, addresses: readonly string[]): readonly string[] {
    if (addresses.length > 0) this.#addresses.set(id, addresses);
    return addresses;
  }

  async #look(pid: number, signal: AbortSignal): Promise<readonly string[]> {
    try {
      return await this.#deps.addressesIn(pid, signal);
    } catch (error) {
      signal.throwIfAborted();
      this.#deps.log.v(2, 'no addresses in the network namespace', { pid, error });
      return [];
    }
  }

  /** The words of dockershim's plugin manager before the plugin's own. */
  async #saying<T>(what: string, { name, namespace }: SandboxOwner, work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (cause) {
      throw new Error(`networkPlugin cni failed to ${what} pod "${name}_${namespace}" network: ${errorText(cause)}`, { cause });
    }
  }

  #sayOnce(key: string, message: string, fields: Readonly<Record<string, unknown>>): void {
    if (this.#faults.fault(key)) this.#deps.log.warn(message, { directory: this.#deps.confDir, ...fields });
  }
}

const netnsOf = (pid: number): string => join('/proc', String(pid), 'ns/net');

function cniArgs({ name, namespace }: SandboxOwner, id: SandboxId): CniArgs {
  return [
    ['IgnoreUnknown', '1'],
    ['K8S_POD_NAMESPACE', namespace],
    ['K8S_POD_NAME', name],
    ['K8S_POD_INFRA_CONTAINER_ID', id],
  ];
}
