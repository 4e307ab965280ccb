import { realpath, stat, statfs } from 'node:fs/promises';
import type { Clock } from '../base/clock.ts';
import { type MountPoint, mountOf, parseMountInfo } from '../base/mount-info.ts';
import type { HostFiles } from '../ports/host-files.ts';
import type { FilesystemStats } from '../ports/pod-stats.ts';
import { type FileSystemCounts, fileSystemCounts } from './file-system-counts.ts';

/** A server that does not answer must not hold up what all the others tell. */
const PATIENCE_MS = 1_000;

/**
 * File systems' own counts. Who asks while another does gets the same answer. One that does not answer in time is asked once, however often
 * it is asked for: each question would hold a thread.
 */
export class FileSystems {
  readonly #clock: Clock;
  readonly #hostFiles: HostFiles;
  readonly #signal: AbortSignal;
  /** Of paths that are no volumes: the node's own, which are few. */
  readonly #mounts = new Map<string, { readonly dev: number; readonly mount: MountPoint }>();
  readonly #asked = new Map<string, { readonly atMs: number; readonly answer: Promise<FilesystemStats | undefined> }>();

  /** `signal` ends the questions that are under way. */
  constructor({ clock, hostFiles, signal }: { readonly clock: Clock; readonly hostFiles: HostFiles; readonly signal: AbortSignal }) {
    this.#clock = clock;
    this.#hostFiles = hostFiles;
    this.#signal = signal;
  }

  /**
   * The file system that holds `path`; undefined when it is not known in time. `mountInfo` reads /proc/self/mountinfo. `isVolume`: the path is
   * where a volume is mounted, which may be a server's.
   */
  async holding(path: string, mountInfo: () => string, isVolume = false): Promise<FilesystemStats | undefined> {
    const { atMs, answer } = this.#asked.get(path) ?? this.#begin(path, mountInfo, isVolume);
    const patienceMs = PATIENCE_MS - (this.#clock.monotonicMs() - atMs);
    if (patienceMs <= 0) return undefined;
    const enough = new AbortController();
    const tooLong = this.#clock.sleep(patienceMs, enough.signal).catch(() => undefined);
    try {
      return (await Promise.race([answer, tooLong])) ?? undefined;
    } finally {
      enough.abort();
    }
  }

  #begin(
    path: string,
    mountInfo: () => string,
    isVolume: boolean,
  ): { readonly atMs: number; readonly answer: Promise<FilesystemStats | undefined> } {
    const answer = this.#ask(path, mountInfo, isVolume).finally(() => this.#asked.delete(path));
    const asked = { atMs: this.#clock.monotonicMs(), answer };
    this.#asked.set(path, asked);
    return asked;
  }

  /** What lies in memory always answers. */
  #count(path: string, mount: MountPoint | undefined, isVolume: boolean): Promise<FileSystemCounts> {
    if (!isVolume || mount?.fsType === 'tmpfs') return statfs(path);
    return this.#hostFiles.run(fileSystemCounts, { path }, this.#signal);
  }

  /** Looked up in the mount table, which is as long as the node has pods, once for as long as the path lies on the same file system. */
  async #mountHolding(path: string, mountInfo: () => string): Promise<MountPoint | undefined> {
    const { dev } = await stat(path);
    const known = this.#mounts.get(path);
    if (known?.dev === dev) return known.mount;
    const mount = mountOf(parseMountInfo(mountInfo()), await realpath(path));
    if (mount) this.#mounts.set(path, { dev, mount });
    return mount;
  }

  async #ask(path: string, mountInfo: () => string, isVolume: boolean): Promise<FilesystemStats | undefined> {
    try {
      const mount = isVolume ? mountOf(parseMountInfo(mountInfo()), path) : await this.#mountHolding(path, mountInfo);
      const { blocks, bfree, bavail, bsize, files, ffree } = await this.#count(path, mount, isVolume);
      const device = mount?.source;
      return {
        atMs: this.#clock.now(),
        availableBytes: bavail * bsize,
        capacityBytes: blocks * bsize,
        usedBytes: (blocks - bfree) * bsize,
        inodesFree: ffree,
        inodes: files,
        inodesUsed: files - ffree,
        ...(device === undefined ? {} : { device }),
        ...(mount ? { fileSystem: fileSystemOf(mount) } : {}),
      };
    } catch {
      return undefined;
    }
  }
}

/** One disk may be shown under several numbers, as btrfs does it with its subvolumes; what has no disk has a number of its own. */
const fileSystemOf = ({ source, device }: MountPoint): string => (source.startsWith('/dev/') ? source : device);

/** A file system, with what a part of it uses in place of the whole. */
export function partOf(
  whole: FilesystemStats | undefined,
  used: { readonly atMs: number; readonly bytes: number; readonly inodes?: number } | undefined,
): FilesystemStats | undefined {
  if (whole === undefined) return undefined;
  const { usedBytes: _, inodesUsed: __, ...rest } = whole;
  if (used === undefined) return rest;
  return { ...rest, atMs: used.atMs, usedBytes: used.bytes, ...(used.inodes === undefined ? {} : { inodesUsed: used.inodes }) };
}
