import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { isJsonObject } from '../../base/json-object.ts';
import type { ExecPlugin } from './exec-plugin.ts';
import { CniPluginError } from './plugin-error.ts';

/** The first of the directories that has it. Rejects when none has (libcni FindInPath). */
export async function findPlugin(type: string, binDirs: readonly string[]): Promise<string> {
  for (const directory of binDirs) {
    const path = join(directory, type);
    const found = await stat(path).catch(() => undefined);
    if (found?.isFile()) return path;
  }
  throw new Error(`failed to find plugin "${type}" in path [${binDirs.join(' ')}]`);
}

/** The versions of the specification that a plugin says it speaks. */
export async function pluginVersions(type: string, path: string, exec: ExecPlugin, signal: AbortSignal): Promise<readonly string[]> {
  // Plugins of before VERSION ask for what the other commands need.
  const env = { CNI_NETNS: 'dummy', CNI_IFNAME: 'dummy', CNI_PATH: 'dummy', CNI_CONTAINERID: '', CNI_ARGS: '' };
  let text: string;
  try {
    text = await exec({ path, type, command: 'VERSION', env, stdin: '{"cniVersion":"1.0.0"}' }, signal);
  } catch (error) {
    if (error instanceof CniPluginError && error.msg === 'unknown CNI_COMMAND: VERSION') return ['0.1.0'];
    throw error;
  }
  const answer: unknown = JSON.parse(text);
  const versions = isJsonObject(answer) ? answer['supportedVersions'] : undefined;
  return Array.isArray(versions) ? versions.filter((version) => typeof version === 'string') : ['0.1.0', '0.2.0'];
}
