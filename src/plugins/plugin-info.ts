import type { NamedPlugin } from '../ports/plugin-handler.ts';

/** What a plugin says of itself on its socket (pluginregistration.v1 PluginInfo). */
export interface PluginInfo {
  readonly type: string;
  readonly name: string;
  /** Empty: the socket by which it registers. */
  readonly endpoint: string;
  readonly supportedVersions: readonly string[];
}

/** The longest name of a resource: "domain/name". */
const MAX_NAME = 253 + 1 + 63;
const MAX_ENDPOINT = 4096;
const MAX_VERSIONS = 100;
const MAX_VERSION = 253;

/** The plugin as its handler gets it. Throws where what it says of itself can be no plugin's. */
export function namedPlugin({ name, endpoint, supportedVersions }: PluginInfo, socketPath: string): NamedPlugin {
  if (name === '') throw new Error('the plugin has no name');
  if (name.length > MAX_NAME) throw new Error(`the plugin's name has ${name.length} characters, more than the ${MAX_NAME} allowed`);
  if (!/^[\w.:/-]+$/.test(name)) throw new Error(`the plugin's name has characters other than letters, digits, and . : / - _`);
  if (endpoint !== '' && !isPath(endpoint)) throw new Error(`the plugin's endpoint must be the absolute path of a socket`);
  if (supportedVersions.length > MAX_VERSIONS)
    throw new Error(`the plugin lists ${supportedVersions.length} versions, more than the ${MAX_VERSIONS} allowed`);
  if (supportedVersions.some((version) => version.length > MAX_VERSION))
    throw new Error(`the plugin lists a version of more than ${MAX_VERSION} characters`);
  return { name, endpoint: endpoint === '' ? socketPath : endpoint, versions: supportedVersions };
}

const isPath = (endpoint: string): boolean => endpoint.startsWith('/') && endpoint.length <= MAX_ENDPOINT && !endpoint.includes('\0');
