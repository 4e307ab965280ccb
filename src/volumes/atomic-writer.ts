import {
  chmod,
  chown,
  lchown,
  lstat,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  readlink,
  rename,
  rm,
  symlink,
  unlink,
  writeFile,
} from 'node:fs/promises';
import { join } from 'node:path';
import { isMissingFile } from '../base/error-code.ts';
import { formatTime } from '../model/time.ts';
import type { PayloadFile } from './payload.ts';

/*
 * A volume's directory (pkg/volume/util AtomicWriter):
 *
 *   ..2026_11_21_14_05_25.x7Gq1b/   the files; another directory for each state
 *   ..data -> ..2026_11_21_14_05_25.x7Gq1b
 *   key -> ..data/key               what a container sees
 *
 * Moving ..data changes all files in one step. A path of a payload never begins with two dots, so the two kinds of names never meet.
 */
const DATA = '..data';
const NEW_DATA = '..data_tmp';
const MAX_PATH_BYTES = 4096;

export interface WriteOptions {
  readonly nowMs: number;
  /** Owns the files, and may read them. */
  readonly fsGroup?: number | undefined;
}

/** Makes `directory`, which exists, show exactly `files`. Resolves with whether anything was written: an equal state is left alone. */
export async function writeAtomically(
  directory: string,
  files: readonly PayloadFile[],
  { nowMs, fsGroup }: WriteOptions,
): Promise<boolean> {
  for (const { path } of files) checkPath(path);
  const current = await currentState(directory);
  if (current !== undefined && (await shows(join(directory, current), files, fsGroup))) {
    await showNames(directory, files, fsGroup);
    return false;
  }
  const state = await mkdtemp(join(directory, `..${formatTime(nowMs).replace('Z', '').replaceAll(/[-:T]/g, '_')}.`));
  await chmod(state, 0o755);
  for (const file of files) await writeOne(state, file, fsGroup);
  await own(state, fsGroup, true);
  await showNames(directory, files, fsGroup, 'add');
  await rm(join(directory, NEW_DATA), { force: true });
  await makeLink(state.slice(directory.length + 1), join(directory, NEW_DATA), fsGroup);
  await rename(join(directory, NEW_DATA), join(directory, DATA));
  await showNames(directory, files, fsGroup);
  await removeOldStates(directory, state.slice(directory.length + 1));
  return true;
}

/** Whether anything was ever written there. */
export async function holdsState(directory: string): Promise<boolean> {
  return (await currentState(directory)) !== undefined;
}

function checkPath(path: string): void {
  const fault = (why: string): Error => new Error(`invalid path: ${why}: ${path}`);
  if (path === '') throw new Error('invalid path: must not be empty');
  if (path.startsWith('/')) throw fault('must be relative path');
  if (Buffer.byteLength(path) > MAX_PATH_BYTES) throw fault(`must be less than or equal to ${MAX_PATH_BYTES} characters`);
  const parts = path.split('/');
  if (parts.includes('..')) throw fault(`must not contain '..'`);
  if (path.startsWith('..')) throw fault(`must not start with '..'`);
  if (parts.includes('') || parts.includes('.') || path.includes('\0')) throw fault('must name a file');
}

async function currentState(directory: string): Promise<string | undefined> {
  try {
    return await readlink(join(directory, DATA));
  } catch (error) {
    if (isMissingFile(error)) return undefined;
    throw error;
  }
}

async function writeOne(state: string, { path, data, mode, uid }: PayloadFile, fsGroup: number | undefined): Promise<void> {
  const parts = path.split('/').slice(0, -1);
  for (const [i] of parts.entries()) {
    const folder = join(state, ...parts.slice(0, i + 1));
    const made = await mkdir(folder, { recursive: true });
    if (made === undefined) continue;
    await chmod(folder, 0o755);
    await own(folder, fsGroup, true);
  }
  const file = join(state, path);
  await writeFile(file, data, { mode: 0o600, flag: 'wx' });
  // The umask has its way with a mode at the making.
  await chmod(file, mode & 0o7777);
  if (uid !== undefined) await chown(file, uid, process.getgid?.() ?? 0);
  await own(file, fsGroup, false, uid);
}

/** The group may read what there is (pkg/volume SetVolumeOwnership, for volumes that containers cannot write). */
export async function own(path: string, fsGroup: number | undefined, isDirectory: boolean, uid = process.getuid?.() ?? 0): Promise<void> {
  if (fsGroup === undefined) return;
  await chown(path, uid, fsGroup);
  const { mode } = await lstat(path);
  await chmod(path, withGroup(mode & 0o7777, fsGroup, isDirectory));
}

function withGroup(mode: number, fsGroup: number | undefined, isDirectory: boolean): number {
  if (fsGroup === undefined) return mode;
  return mode | (isDirectory ? 0o2550 : 0o440);
}

async function shows(state: string, files: readonly PayloadFile[], fsGroup: number | undefined): Promise<boolean> {
  try {
    const present = (await readdir(state, { recursive: true, withFileTypes: true })).filter((entry) => !entry.isDirectory());
    if (present.length !== files.length) return false;
    for (const { path, data, mode, uid } of files) {
      const at = await lstat(join(state, path));
      const sameOwner = at.uid === (uid ?? process.getuid?.() ?? 0);
      const same = at.isFile() && (at.mode & 0o7777) === withGroup(mode & 0o7777, fsGroup, false) && sameOwner;
      if (!same || (fsGroup !== undefined && at.gid !== fsGroup)) return false;
      if (!(await readFile(join(state, path))).equals(data)) return false;
    }
    return true;
  } catch (error) {
    if (isMissingFile(error)) return false;
    throw error;
  }
}

/** The names that a container sees: those of the payload, and unless `add` is said no others. */
async function showNames(directory: string, files: readonly PayloadFile[], fsGroup: number | undefined, only?: 'add'): Promise<void> {
  const names = new Set(files.map(({ path }) => path.split('/')[0] ?? path));
  const entries = await readdir(directory, { withFileTypes: true });
  const present = new Set(entries.map(({ name }) => name));
  for (const name of names) if (!present.has(name)) await makeLink(join(DATA, name), join(directory, name), fsGroup);
  if (only === 'add') return;
  // What is no link is where another volume is mounted.
  for (const entry of entries) {
    if (entry.isSymbolicLink() && !entry.name.startsWith('..') && !names.has(entry.name)) await unlink(join(directory, entry.name));
  }
}

/** The group has links, too, also where a file system does not pass it on (pkg/volume SetVolumeOwnership). */
async function makeLink(target: string, path: string, fsGroup: number | undefined): Promise<void> {
  await symlink(target, path);
  if (fsGroup !== undefined) await lchown(path, process.getuid?.() ?? 0, fsGroup);
}

/** Also what a crash left half written. */
async function removeOldStates(directory: string, current: string): Promise<void> {
  for (const name of await readdir(directory)) {
    if (name.startsWith('..') && name !== DATA && name !== current) await rm(join(directory, name), { recursive: true, force: true });
  }
}
