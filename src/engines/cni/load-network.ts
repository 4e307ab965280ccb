import { readdir, readFile, stat } from 'node:fs/promises';
import { extname, join } from 'node:path';
import { errorCode } from '../../base/error-code.ts';
import { errorText } from '../../base/error-text.ts';
import type { ExecPlugin } from './exec-plugin.ts';
import { type NetworkList, parseConf, parseConfList } from './network-list.ts';
import { findPlugin, pluginVersions } from './plugins.ts';

export interface LoadedNetwork {
  /** Undefined when no file of the directory will do: then `fault` says so. */
  readonly network: NetworkList | undefined;
  readonly file: string | undefined;
  readonly fault: string | undefined;
  /** The files that come before it and will not do, and why. */
  readonly skipped: readonly { readonly file: string; readonly why: string }[];
}

const extensions = ['.conf', '.conflist', '.json'];

/** Equal as long as the directory's files are the same ones, unchanged. */
export async function confDirState(confDir: string): Promise<string> {
  const files = await confFiles(confDir).catch((error: unknown) => [errorText(error)]);
  const states = await Promise.all(
    files.map(async (file) => {
      const found = await stat(join(confDir, file)).catch(() => undefined);
      return [file, found?.ino, found?.size, found?.mtimeMs, found?.ctimeMs].join(' ');
    }),
  );
  return states.join('\n');
}

/**
 * The first configuration of the directory, by name, that can be read and whose plugins are there and speak its version (getDefaultCNINetwork
 * in pkg/kubelet/dockershim/network/cni).
 */
export async function loadNetwork(
  confDir: string,
  binDirs: readonly string[],
  exec: ExecPlugin,
  signal: AbortSignal,
): Promise<LoadedNetwork> {
  const skipped: { file: string; why: string }[] = [];
  let files: readonly string[];
  try {
    files = await confFiles(confDir);
  } catch (error) {
    return { network: undefined, file: undefined, fault: errorText(error), skipped };
  }
  for (const file of files) {
    try {
      const text = await readFile(join(confDir, file), 'utf8');
      const network = file.endsWith('.conflist') ? parseConfList(text) : parseConf(text);
      for (const { type } of network.plugins) await demandPlugin(type, network.cniVersion || '0.1.0', binDirs, exec, signal);
      return { network, file, fault: undefined, skipped };
    } catch (error) {
      signal.throwIfAborted();
      skipped.push({ file, why: errorText(error) });
    }
  }
  const fault = files.length === 0 ? `no networks found in ${confDir}` : `no valid networks found in ${confDir}`;
  return { network: undefined, file: undefined, fault, skipped };
}

/** A directory that is not there has none. */
async function confFiles(confDir: string): Promise<readonly string[]> {
  try {
    const entries = await readdir(confDir, { withFileTypes: true });
    const files = entries.filter((entry) => !entry.isDirectory() && extensions.includes(extname(entry.name)));
    return files.map(({ name }) => name).sort();
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return [];
    throw error;
  }
}

async function demandPlugin(
  type: string,
  version: string,
  binDirs: readonly string[],
  exec: ExecPlugin,
  signal: AbortSignal,
): Promise<void> {
  const versions = await pluginVersions(type, await findPlugin(type, binDirs), exec, signal);
  if (!versions.includes(version)) throw new Error(`plugin ${type} does not support config version "${version}"`);
}
