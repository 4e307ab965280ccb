import { isJsonObject, type JsonObject } from '../../base/json-object.ts';

/** One plugin's part of a network's configuration. */
export interface PluginConf {
  /** The plugin's file name. */
  readonly type: string;
  /** What it takes of the runtime: "portMappings", "bandwidth". */
  readonly capabilities: readonly string[];
  readonly conf: JsonObject;
}

/** A network as the CNI specification has it: plugins that are called one after the other. */
export interface NetworkList {
  readonly name: string;
  /** Empty where the configuration names none, which means 0.1.0. */
  readonly cniVersion: string;
  readonly plugins: readonly PluginConf[];
  /** The configuration as a list, for the cache of results. */
  readonly text: string;
}

/** libcni's pkg/utils cniValidNameChars: network names become parts of file names. */
const nameFormat = /^[a-zA-Z0-9][a-zA-Z0-9_.-]*$/;

/** A .conflist file. Throws an error that says what is wrong with it (libcni ConfListFromBytes). */
export function parseConfList(text: string): NetworkList {
  const fault = (why: string): Error => new Error(`error parsing configuration list: ${why}`);
  const { name, cniVersion, plugins, disableCheck } = parseObject(text, fault);
  if (name === undefined) throw fault('no name');
  if (typeof name !== 'string') throw fault('name is no string');
  if (!nameFormat.test(name)) throw fault(`invalid characters found in network name: ${JSON.stringify(name)}`);
  if (cniVersion !== undefined && typeof cniVersion !== 'string') throw fault('cniVersion is no string');
  if (disableCheck !== undefined && typeof disableCheck !== 'boolean') throw fault('disableCheck is neither true nor false');
  if (plugins === undefined) throw fault("no 'plugins' key");
  if (!Array.isArray(plugins)) throw fault("'plugins' is no list");
  if (plugins.length === 0) throw fault('no plugins in list');
  return {
    name,
    cniVersion: cniVersion ?? '',
    plugins: plugins.map((plugin: unknown, i) =>
      pluginConf(plugin, (why) => new Error(`failed to parse plugin config ${i}: error parsing configuration: ${why}`)),
    ),
    text,
  };
}

/** A .conf or .json file, of one plugin: a list of one. */
export function parseConf(text: string): NetworkList {
  const fault = (why: string): Error => new Error(`error parsing configuration: ${why}`);
  const conf = parseObject(text, fault);
  if (!conf['type'] && conf['plugins'] !== undefined) throw fault("no 'type'; perhaps this is a .conflist?");
  const { name = '', cniVersion = '' } = conf;
  pluginConf(conf, fault);
  return parseConfList(JSON.stringify({ name, cniVersion, plugins: [conf] }));
}

function parseObject(text: string, fault: (why: string) => Error): JsonObject {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw fault(error instanceof Error ? error.message : String(error));
  }
  if (!isJsonObject(value)) throw fault('it is no object');
  return value;
}

function pluginConf(conf: unknown, fault: (why: string) => Error): PluginConf {
  if (!isJsonObject(conf)) throw fault('it is no object');
  const { type, capabilities = {} } = conf;
  if (type === undefined || type === '') throw fault("missing 'type'");
  if (typeof type !== 'string') throw fault("'type' is no string");
  if (type.includes('/')) throw fault(`invalid plugin name: ${type}`);
  if (!isJsonObject(capabilities)) throw fault("'capabilities' is no object");
  const asked = Object.entries(capabilities).filter(([, wanted]) => wanted === true);
  return { type, capabilities: asked.map(([capability]) => capability), conf };
}
