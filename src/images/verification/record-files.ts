import { hash } from 'node:crypto';
import { opendir, unlink } from 'node:fs/promises';
import { join, parse } from 'node:path';
import { isMissingFile } from '../../base/error-code.ts';
import { makeDirectory } from '../../base/make-directory.ts';
import { readRegularFile } from '../../base/read-regular-file.ts';
import { SerialByKey } from '../../base/serial-by-key.ts';
import { writePrivateFile } from '../../base/write-private-file.ts';
import { LARGEST_RECORD } from './pulled-record.ts';

/** Of one directory, in one look; others are found by the next looks, as these are removed. */
export const MOST_FILES = 10_000;

const isRecord = (name: string): boolean => /^sha256-[0-9a-f]{64}$/.test(name);
/** What a crash of this agent, or of a kubelet, has left beside a record. */
const isUnfinished = (name: string): boolean => /^sha256-[0-9a-f]{64}\.(part|tmp)$/.test(name);

/** The file of an image's name, or of its id: as a kubelet calls it (cacheFilename in pkg/kubelet/images/pullmanager). */
export const recordFileName = (key: string): string => `sha256-${hash('sha256', key)}`;

/** A directory of small files, each named by the hash of what it is about; for the agent alone. Where it is missing it is empty. */
export class RecordFiles {
  readonly #directory: string;
  readonly #serial = new SerialByKey<string>();

  constructor(directory: string) {
    this.#directory = directory;
  }

  /** For messages. */
  path(name: string): string {
    return join(this.#directory, name);
  }

  /** The names of what is there, and nothing else that may be in the directory. Rejects where it cannot be read. */
  async names(): Promise<readonly string[]> {
    return (await this.#list()).filter(isRecord);
  }

  /** Undefined where there is none. Rejects for what is no file, or larger than LARGEST_RECORD, and where it cannot be read. */
  async read(name: string): Promise<string | undefined> {
    try {
      return await readRegularFile(this.path(name), LARGEST_RECORD);
    } catch (error) {
      if (isMissingFile(error)) return undefined;
      throw error;
    }
  }

  /** `change` gets what is there, as `read` says it, and returns what is to be; undefined: nothing changes. One change of a file at a time. */
  async change(name: string, change: (read: () => Promise<string | undefined>) => Promise<string | undefined>): Promise<void> {
    await this.#serial.run(name, async () => {
      const text = await change(() => this.read(name));
      if (text === undefined) return;
      await makeDirectory(this.#directory, 0o700);
      await writePrivateFile(this.path(name), text);
    });
  }

  /** Succeeds where it is gone already. */
  async remove(name: string): Promise<void> {
    await this.#serial.run(name, () => this.#unlink(name));
  }

  /**
   * Removes what `keep` does not want, asked right before, and what is unfinished of all; never under a write. Rejects with the last failure,
   * after the others.
   */
  async removeOthers(keep: (name: string) => boolean): Promise<void> {
    let failure: unknown;
    for (const name of await this.#list()) {
      const removal = async (): Promise<void> => {
        if (!isRecord(name) || !keep(name)) await this.#unlink(name);
      };
      await this.#serial.run(parse(name).name, removal).catch((error: unknown) => (failure = error));
    }
    if (failure !== undefined) throw failure;
  }

  async #unlink(name: string): Promise<void> {
    await unlink(this.path(name)).catch((error: unknown) => {
      if (!isMissingFile(error)) throw error;
    });
  }

  /** Records and what is unfinished of them. */
  async #list(): Promise<readonly string[]> {
    const names: string[] = [];
    try {
      for await (const { name } of await opendir(this.#directory)) {
        if (isRecord(name) || isUnfinished(name)) names.push(name);
        if (names.length === MOST_FILES) break;
      }
    } catch (error) {
      if (!isMissingFile(error)) throw error;
    }
    return names;
  }
}
