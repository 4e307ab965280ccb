import { hash } from 'node:crypto';
import { constants, type Stats } from 'node:fs';
import { type FileHandle, mkdir, open, rm } from 'node:fs/promises';
import { dirname, join, posix } from 'node:path';
import { errorCode } from '../../../base/error-code.ts';
import { errorText } from '../../../base/error-text.ts';
import type { Logger } from '../../../base/logger.ts';
import { LruMap } from '../../../base/lru-map.ts';
import { podDirectory } from '../../../model/pod-directory.ts';
import { type Container, type Pod, type PodUid, aboutPod } from '../../../model/pod.ts';
import type { LogOptions, LogPiece } from '../../../ports/container-access.ts';
import type { ContainerState, Mount } from '../../../ports/container-runtime.ts';
import type { ContainerNote } from '../identity/container-labels.ts';

/** pkg/kubelet/container/runtime.go: MaxContainerTerminationMessageLength, and the bounds of what is taken from a log instead. */
const MAX_MESSAGE_BYTES = 4096;
const MAX_LOG_BYTES = 2048;
const MAX_LOG_LINES = 80;

/** Twice the dead containers of a full node. */
const MAX_REMEMBERED = 1000;

/** A file that a container finds at its terminationMessagePath. */
export interface MessageFile {
  readonly mount: Mount;
  /** To be called before the first start of a new container: what one of the same name wrote is not its message. */
  clear(): Promise<void>;
}

/** A container as far as its message goes. */
export interface MessageOwner {
  readonly id: string;
  readonly mounts: readonly { readonly hostPath: string; readonly containerPath: string }[];
}

type Ended = ContainerState & { readonly phase: 'exited' };

/**
 * What containers leave as their last words: a file of each attempt, ROOT/pods/UID/containers/NAME/HASH, that is mounted into the container
 * (makeMounts, getTerminationMessage in pkg/kubelet/kuberuntime).
 */
export class TerminationMessages<O extends MessageOwner> {
  readonly #readLog: (owner: O, options: LogOptions, signal: AbortSignal) => AsyncIterable<LogPiece>;
  readonly #log: Logger;
  readonly #rootDir: string;
  /** By container: one that has ended says nothing new. */
  readonly #messages = new LruMap<string, string>(MAX_REMEMBERED);

  /** `readLog`: what the container has written, which is at its end. */
  constructor(readLog: (owner: O, options: LogOptions, signal: AbortSignal) => AsyncIterable<LogPiece>, log: Logger, rootDir: string) {
    this.#readLog = readLog;
    this.#log = log;
    this.#rootDir = rootDir;
  }

  /** Makes the file. Undefined when none is asked for, or none could be made: the container does without. */
  async file(pod: Pod, { name, terminationMessagePath }: Container, attempt: number): Promise<MessageFile | undefined> {
    if (!terminationMessagePath) return undefined;
    try {
      const directory = this.#directory(pod.metadata.uid, name);
      const hostPath = join(directory, hash('sha256', `${pod.metadata.uid}/${name}/${attempt}`).slice(0, 8));
      await mkdir(directory, { recursive: true, mode: 0o750 });
      const file = await open(hostPath, constants.O_WRONLY | constants.O_CREAT | constants.O_NOFOLLOW | constants.O_NONBLOCK, 0o666);
      let size: number;
      try {
        // Whatever the umask says, and for any user of the container.
        await file.chmod(0o666);
        ({ size } = await file.stat());
      } finally {
        await file.close();
      }
      return {
        mount: { hostPath, containerPath: messagePath(terminationMessagePath), readOnly: false },
        clear: () => (size === 0 ? Promise.resolve() : empty(hostPath)),
      };
    } catch (error) {
      this.#log.error('termination message file cannot be made', { ...aboutPod(pod), container: name, error });
      return undefined;
    }
  }

  /** The container's state with what it left. The engine's own words go first. */
  async enrich<S extends ContainerState>(owner: O, note: ContainerNote, state: S, signal: AbortSignal): Promise<S> {
    if (state.phase !== 'exited') return state;
    const known = this.#messages.get(owner.id);
    const words = known ?? (await this.#read(owner, note, state, signal));
    if (known === undefined) this.#messages.set(owner.id, words);
    return words === '' ? state : { ...state, message: [state.message, words].filter((part) => part !== '').join(': ') };
  }

  /** The container is gone for good. */
  async remove(owner: O, note: ContainerNote): Promise<void> {
    const path = this.#pathOf(owner, note);
    if (path === undefined) return;
    await rm(path, { force: true }).catch((error: unknown) => this.#log.warn('termination message file left', { path, error }));
  }

  async #read(owner: O, note: ContainerNote, { exitCode, reason }: Ended, signal: AbortSignal): Promise<string> {
    const path = this.#pathOf(owner, note);
    try {
      const written = path === undefined ? '' : await readEnd(path);
      if (written !== '') return written;
    } catch (error) {
      return `Error on reading termination log ${path}: ${errorText(error)}`;
    }
    // What could not even be started has no log.
    const didStart = reason !== 'ContainerCannotRun' && reason !== 'StartError';
    const fallsBack = note.terminationMessagePolicy === 'FallbackToLogsOnError' && exitCode !== 0 && didStart;
    if (!fallsBack) return '';
    try {
      return await this.#endOfLog(owner, signal);
    } catch (error) {
      signal.throwIfAborted();
      return `Error on reading termination message from logs: ${errorText(error)}`;
    }
  }

  async #endOfLog(owner: O, signal: AbortSignal): Promise<string> {
    let end = Buffer.alloc(0);
    const options = { follow: false, timestamps: false, tailLines: MAX_LOG_LINES };
    for await (const { bytes } of this.#readLog(owner, options, signal)) {
      end = Buffer.concat([end, bytes]).subarray(-MAX_LOG_BYTES);
    }
    signal.throwIfAborted();
    return end.toString();
  }

  /** Where the container's file is; undefined when it has none of ours: no other path is read or removed, whatever is mounted there. */
  #pathOf({ mounts }: O, note: ContainerNote): string | undefined {
    if (note.terminationMessagePath === '' || note.containerName === '') return undefined;
    const destination = messagePath(note.terminationMessagePath);
    const source = mounts.find(({ containerPath }) => containerPath === destination)?.hostPath;
    if (source === undefined) return undefined;
    try {
      return dirname(source) === this.#directory(note.podUid, note.containerName) ? source : undefined;
    } catch {
      // A uid that names no directory.
      return undefined;
    }
  }

  #directory(uid: string, container: string): string {
    return join(podDirectory(this.#rootDir, uid as PodUid), 'containers', container);
  }
}

/**
 * Where a container finds its file: clean, and from the root, from where a relative path is read (MakeAbsolutePath in pkg/volume/util). So the
 * engine, too, writes down where something is mounted.
 */
export function messagePath(path: string): string {
  return posix.resolve('/', path);
}

/** The last of it. Empty when the file is gone. */
async function readEnd(path: string): Promise<string> {
  let file: FileHandle;
  try {
    file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return '';
    throw error;
  }
  try {
    const stats: Stats = await file.stat();
    if (!stats.isFile()) throw new Error('it is no file');
    const length = Math.min(stats.size, MAX_MESSAGE_BYTES);
    const { bytesRead, buffer } = await file.read(Buffer.alloc(length), 0, length, stats.size - length);
    return buffer.toString('utf8', 0, bytesRead);
  } finally {
    await file.close();
  }
}

async function empty(path: string): Promise<void> {
  const file = await open(path, constants.O_WRONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    await file.truncate(0);
  } finally {
    await file.close();
  }
}
