import { errorText } from '../../base/error-text.ts';
import { isJsonObject, type JsonObject } from '../../base/json-object.ts';
import type { ExecPlugin } from './exec-plugin.ts';
import type { NetworkList, PluginConf } from './network-list.ts';
import { findPlugin } from './plugins.ts';
import { type CniArgs, INTERFACE } from './result-cache.ts';

/** Which sandbox a network's plugins are called for. */
export interface Attachment {
  readonly containerId: string;
  /** The path of the network namespace; empty when it is gone. */
  readonly netns: string;
  readonly args: CniArgs;
  readonly capabilityArgs: JsonObject;
}

export interface Calling {
  readonly binDirs: readonly string[];
  readonly exec: ExecPlugin;
}

/** Calls ADD on each plugin in turn, each with the result of the one before. Resolves with the last one's result. */
export async function addToNetwork(calling: Calling, network: NetworkList, to: Attachment, signal: AbortSignal): Promise<JsonObject> {
  let result: JsonObject | undefined;
  for (const plugin of network.plugins) {
    const text = await call(calling, network, plugin, 'ADD', to, result, signal);
    result = parseResult(text, plugin.type, network.cniVersion);
  }
  return result ?? {};
}

/**
 * Calls DEL on each plugin, the last one first, with the result of ADD where the version has that. A plugin that fails keeps none of the
 * others from releasing what they have; what is gone already counts as released. Rejects with what failed.
 */
export async function removeFromNetwork(
  calling: Calling,
  network: NetworkList,
  from: Attachment,
  prevResult: JsonObject | undefined,
  signal: AbortSignal,
): Promise<void> {
  const result = takesPrevResultOnDel(network.cniVersion) ? prevResult : undefined;
  const errors: Error[] = [];
  for (const plugin of network.plugins.toReversed()) {
    try {
      await call(calling, network, plugin, 'DEL', from, result, signal);
    } catch (error) {
      signal.throwIfAborted();
      const text = errorText(error);
      // As dockershim has it: an earlier DEL may have got this far.
      if (!text.includes('no such file or directory')) errors.push(error instanceof Error ? error : new Error(text));
    }
  }
  if (errors.length > 1) throw new AggregateError(errors, errors.map(errorText).join(', '));
  if (errors[0]) throw errors[0];
}

async function call(
  { binDirs, exec }: Calling,
  { name, cniVersion }: NetworkList,
  { type, capabilities, conf }: PluginConf,
  command: 'ADD' | 'DEL',
  { containerId, netns, args, capabilityArgs }: Attachment,
  prevResult: JsonObject | undefined,
  signal: AbortSignal,
): Promise<string> {
  const path = await findPlugin(type, binDirs);
  const runtimeConfig = Object.fromEntries(Object.entries(capabilityArgs).filter(([capability]) => capabilities.includes(capability)));
  const stdin = {
    ...conf,
    name,
    cniVersion,
    ...(prevResult && { prevResult }),
    ...(Object.keys(runtimeConfig).length > 0 && { runtimeConfig }),
  };
  const env = {
    CNI_CONTAINERID: containerId,
    CNI_NETNS: netns,
    CNI_IFNAME: INTERFACE,
    CNI_ARGS: args.map(([key, value]) => `${key}=${value}`).join(';'),
    CNI_PATH: binDirs.join(':'),
  };
  return exec({ path, type, command, env, stdin: JSON.stringify(stdin) }, signal);
}

function parseResult(text: string, plugin: string, cniVersion: string): JsonObject {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw new Error(`plugin type="${plugin}" failed (add): its result cannot be read: ${JSON.stringify(text)}`, { cause });
  }
  if (!isJsonObject(value)) throw new Error(`plugin type="${plugin}" failed (add): its result is no object`);
  return { cniVersion, ...value };
}

/** Since 0.4.0 of the specification. */
function takesPrevResultOnDel(version: string): boolean {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  return major > 0 || minor >= 4;
}
