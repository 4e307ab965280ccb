import { anySignal } from '../base/any-signal.ts';
import type { Clock } from '../base/clock.ts';
import { errorText } from '../base/error-text.ts';
import { exponential } from '../base/exponential.ts';
import type { Logger } from '../base/logger.ts';
import { OngoingFaults } from '../base/ongoing-faults.ts';
import { printable } from '../base/printable.ts';
import { SerialByKey } from '../base/serial-by-key.ts';
import { Slots } from '../base/slots.ts';
import { unlessAborted } from '../base/unless-aborted.ts';
import { withDeadline } from '../base/with-deadline.ts';
import type { Worlds } from '../base/worlds-text.ts';
import type { NamedPlugin, PluginHandler } from '../ports/plugin-handler.ts';
import type { PluginConnection } from './plugin-connection.ts';
import { namedPlugin } from './plugin-info.ts';
import type { Sockets } from './socket-tree.ts';

/** As the kubelet's (pkg/util/goroutinemap/exponentialbackoff). */
const retryMs = exponential(500, 122_000);
/** See PluginHandler. */
const HANDLER_MS = 10_000;
/** Each is a connection, and the many that hang must not be all that is asked. */
const MAX_DIALS = 100;
/** Of what peers say, in the log and to themselves. */
const MAX_WORDS = 1_000;

export interface PluginRegistryDeps {
  readonly handlers: readonly PluginHandler[];
  readonly clock: Clock;
  readonly log: Logger;
  readonly connect: (socketPath: string) => PluginConnection;
}

interface Registered {
  readonly plugin: NamedPlugin;
  readonly handler: PluginHandler;
}

/** One path at which there is a socket, or was. */
interface Followed {
  readonly path: string;
  /** Which socket is there; undefined: none. */
  wanted: string | undefined;
  /** Which one is registered. */
  has: string | undefined;
  /** As what the handler has it, or may have it: a call that was given up on has an end that nobody knows. */
  as: Registered | undefined;
  /** Aborts when `wanted` becomes another. */
  change: AbortController;
  work: Promise<void> | undefined;
}

/**
 * Brings the plugins' handlers to what their sockets say: registered while the socket is there, and again when it was replaced. Plugins of one
 * name are called one after the other, all others side by side. What fails is tried again, and reported once for each cause.
 */
export class PluginRegistry {
  readonly #deps: PluginRegistryDeps;
  readonly #followed = new Map<string, Followed>();
  /** By type and name, in the order in which they registered: the last is the handler's. */
  readonly #named = new Map<string, Followed[]>();
  readonly #names = new SerialByKey<string>();
  readonly #dials = new Slots(MAX_DIALS);
  readonly #faults = new OngoingFaults<string>();
  readonly #stop = new AbortController();

  constructor(deps: PluginRegistryDeps) {
    this.#deps = deps;
  }

  /** Takes what is there now. */
  update(sockets: Sockets): void {
    for (const [path, identity] of sockets) {
      const followed = this.#followed.get(path);
      if (followed) this.#want(followed, identity);
      else this.#follow({ path, wanted: identity, has: undefined, as: undefined, change: new AbortController(), work: undefined });
    }
    for (const [path, followed] of this.#followed) if (!sockets.has(path)) this.#want(followed, undefined);
    this.#faults.retain((path) => this.#followed.has(path));
  }

  /** The paths of sockets that are registered, and of those that are to be. */
  paths(): Worlds {
    const all = [...this.#followed.values()];
    const pathsOf = (some: readonly Followed[]): readonly string[] => some.map(({ path }) => path);
    return {
      actual: pathsOf(all.filter(({ has }) => has !== undefined)),
      desired: pathsOf(all.filter(({ wanted }) => wanted !== undefined)),
    };
  }

  /** Resolves once nothing of it is under way. What is registered stays so. */
  async stop(): Promise<void> {
    this.#stop.abort();
    await Promise.allSettled([...this.#followed.values()].flatMap(({ work }) => work ?? []));
  }

  #want(followed: Followed, identity: string | undefined): void {
    if (followed.wanted === identity) return;
    followed.wanted = identity;
    followed.change.abort();
    followed.change = new AbortController();
    this.#follow(followed);
  }

  #follow(followed: Followed): void {
    this.#followed.set(followed.path, followed);
    followed.work ??= this.#bring(followed).finally(() => {
      followed.work = undefined;
      // It may have become another while the last of it was done.
      if (!this.#stop.signal.aborted && !isAsWanted(followed)) this.#follow(followed);
      else if (followed.wanted === undefined) this.#followed.delete(followed.path);
    });
  }

  async #bring(followed: Followed): Promise<void> {
    for (let failures = 0; !isAsWanted(followed) && !this.#stop.signal.aborted;) {
      const { wanted, path } = followed;
      if (followed.as !== undefined) {
        await this.#deregister(followed, followed.as);
        continue;
      }
      if (wanted === undefined) break;
      using within = anySignal(this.#stop.signal, followed.change.signal);
      try {
        await this.#register(followed, wanted, within.signal);
        this.#faults.over(path);
      } catch (error) {
        if (within.signal.aborted) {
          failures = 0;
          continue;
        }
        const waitMs = retryMs(++failures);
        this.#report(path, error, failures);
        await this.#deps.clock.sleep(waitMs, within.signal).catch(() => {});
        if (within.signal.aborted) failures = 0;
      }
    }
  }

  async #register(followed: Followed, wanted: string, signal: AbortSignal): Promise<void> {
    const { path } = followed;
    const connection = this.#deps.connect(path);
    try {
      const info = await this.#dials.run(() => connection.info(signal), signal);
      let as: Registered;
      try {
        as = this.#checked(info, path);
        await this.#names.run(keyOf(as), () => this.#handOver(followed, as, wanted, signal));
      } catch (error) {
        if (!signal.aborted) await this.#refuse(connection, path, words(error), signal);
        throw error;
      }
      await connection.notify('', signal).catch(async (cause: unknown) => {
        if (signal.aborted) return;
        // It may never serve what it does not know to be registered.
        await this.#deregister(followed, as);
        const error = words(cause);
        throw new Error(`RegisterPlugin error -- failed to send registration status at socket ${path}, err: ${error}`, { cause });
      });
    } finally {
      connection.close();
    }
  }

  #checked(info: Parameters<typeof namedPlugin>[0] & { readonly type: string }, path: string): Registered {
    const handler = this.#deps.handlers.find(({ type }) => type === info.type);
    if (handler === undefined)
      throw new Error(`RegisterPlugin error -- no handler registered for plugin type: ${printable(info.type)} at socket ${path}`);
    try {
      return { handler, plugin: namedPlugin(info, path) };
    } catch (cause) {
      throw new Error(`RegisterPlugin error -- plugin validation failed with err: ${errorText(cause)}`, { cause });
    }
  }

  async #handOver(followed: Followed, as: Registered, wanted: string, signal: AbortSignal): Promise<void> {
    const { log } = this.#deps;
    signal.throwIfAborted();
    const key = keyOf(as);
    const others = this.#named.get(key) ?? [];
    followed.as = as;
    this.#named.set(key, [...others, followed]);
    try {
      await this.#call(`registering plugin ${as.plugin.name}`, signal, async (within) => {
        try {
          await as.handler.register(as.plugin, within);
        } catch (error) {
          if (!within.aborted) this.#forget(followed, key);
          throw error;
        }
      });
    } catch (cause) {
      throw new Error(`RegisterPlugin error -- plugin registration failed with err: ${errorText(cause)}`, { cause });
    }
    followed.has = wanted;
    const fields = fieldsOf(followed.path, as);
    const before = others.at(-1)?.path;
    if (before === undefined) log.info('plugin registered', fields);
    else log.warn('a plugin is known by this name already: the newest takes its place', { ...fields, before });
  }

  async #deregister(followed: Followed, as: Registered): Promise<void> {
    const key = keyOf(as);
    await this.#names.run(key, async () => {
      const last = this.#named.get(key)?.at(-1);
      this.#forget(followed, key);
      // Else another has its name by now.
      if (last === followed && !(await this.#giveBack(key))) await this.#takeOff(followed.path, as);
    });
  }

  /** Whether the one that had the name before has it again. */
  async #giveBack(key: string): Promise<boolean> {
    const { log } = this.#deps;
    const next = this.#named.get(key)?.at(-1);
    if (next?.as === undefined) return false;
    const { handler, plugin } = next.as;
    const fields = fieldsOf(next.path, next.as);
    try {
      await this.#call(`registering plugin ${plugin.name}`, this.#stop.signal, (within) => handler.register(plugin, within));
      log.info('the plugin that had the name before takes its place again', fields);
      return true;
    } catch (error) {
      if (this.#stop.signal.aborted) return true;
      log.warn('the plugin that had the name before cannot take its place again, retrying', { ...fields, error: words(error) });
      this.#forget(next, key);
      this.#follow(next);
      return false;
    }
  }

  async #takeOff(path: string, as: Registered): Promise<void> {
    const { log } = this.#deps;
    try {
      await this.#call(`deregistering plugin ${as.plugin.name}`, this.#stop.signal, (within) => as.handler.deregister(as.plugin, within));
      log.info('plugin deregistered', fieldsOf(path, as));
    } catch (error) {
      if (!this.#stop.signal.aborted) log.warn('plugin not deregistered as it should be', { ...fieldsOf(path, as), error: words(error) });
    }
  }

  #forget(followed: Followed, key: string): void {
    const others = this.#named.get(key)?.filter((each) => each !== followed) ?? [];
    if (others.length > 0) this.#named.set(key, others);
    else this.#named.delete(key);
    followed.as = undefined;
    followed.has = undefined;
  }

  /** A handler that takes no notice of its signal is left behind. */
  #call(what: string, signal: AbortSignal, work: (signal: AbortSignal) => Promise<void>): Promise<void> {
    return withDeadline(this.#deps.clock, HANDLER_MS, what, signal, (within) => unlessAborted(work(within), within));
  }

  async #refuse(connection: PluginConnection, path: string, error: string, signal: AbortSignal): Promise<void> {
    try {
      await connection.notify(error, signal);
    } catch (cause) {
      throw new Error(`RegisterPlugin error -- failed to send error at socket ${path}, err: ${error}: ${errorText(cause)}`, { cause });
    }
  }

  #report(path: string, error: unknown, failures: number): void {
    const found = words(error);
    // A socket is there a moment before somebody listens on it.
    if (failures === 1 && found.includes('ECONNREFUSED')) return;
    if (this.#faults.fault(path, found)) this.#deps.log.warn('plugin not registered, retrying', { socket: path, error: found });
  }
}

const isAsWanted = ({ wanted, has, as }: Followed): boolean => wanted === has && (as === undefined || has !== undefined);

const keyOf = ({ handler, plugin }: Registered): string => `${handler.type} ${plugin.name}`;

const fieldsOf = (socket: string, { handler, plugin }: Registered): Readonly<Record<string, unknown>> => ({
  plugin: plugin.name,
  type: handler.type,
  socket,
  endpoint: plugin.endpoint,
  versions: plugin.versions,
});

function words(error: unknown): string {
  const text = printable(errorText(error));
  return text.length > MAX_WORDS ? `${text.slice(0, MAX_WORDS)}…` : text;
}
