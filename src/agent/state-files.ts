import { closeSync, constants, fstatSync, openSync, readFileSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { isMissingFile } from '../base/error-code.ts';
import { isJsonObject } from '../base/json-object.ts';
import type { Logger } from '../base/logger.ts';
import { writePrivateFile } from '../base/write-private-file.ts';
import type { Decode, StateFile, StateFiles } from '../ports/state-files.ts';

/** Far more than any part keeps. */
const MAX_BYTES = 16 << 20;

/** Something else than a part of the agent has written there, or the disk has lost it. */
class DamagedFileError extends Error {}

/** A later agent, which this one takes the place of, has written it in a form of its own. */
class NewerFileError extends Error {
  readonly version: number;

  constructor(version: number, known: number) {
    super(`version ${version}, and this agent knows ${known} at most`);
    this.version = version;
  }
}

/**
 * State files of this directory, for their owner alone. What cannot be read as a value is set aside as NAME.damaged, where an administrator
 * may look at it until the next one takes its place; what the disk does not answer for stays where it is. What a later agent has written in a
 * form that is not known here is kept as NAME.version-N, and the agent goes on without it.
 * `open` throws where the name is open already: two owners would undo each other's saves.
 */
export function stateFiles(directory: string, { log }: { readonly log: Logger }): StateFiles {
  const opened = new Set<string>();
  return {
    open(name, decode) {
      if (opened.has(name)) throw new Error(`state file ${name} has an owner already`);
      opened.add(name);
      return new JsonFile(join(directory, name), decode, log);
    },
  };
}

class JsonFile<T> implements StateFile<T> {
  readonly #path: string;
  readonly #decode: Decode<T>;
  readonly #log: Logger;
  #underWay: Promise<void> = Promise.resolve();
  /** What is written next, by all saves that wait for the one under way. */
  #next: { value: T; readonly saved: Promise<void> } | undefined;

  constructor(path: string, decode: Decode<T>, log: Logger) {
    this.#path = path;
    this.#decode = decode;
    this.#log = log;
  }

  load(): T | undefined {
    try {
      return this.#valueOf(readBounded(this.#path));
    } catch (error) {
      if (error instanceof DamagedFileError) this.#setAside('damaged', error);
      else if (error instanceof NewerFileError) this.#setAside(`version-${error.version}`, error);
      else if (!isMissingFile(error)) this.#log.warn('state file unreadable', { path: this.#path, error });
      return undefined;
    }
  }

  save(value: T): Promise<void> {
    if (this.#next) this.#next.value = value;
    else this.#next = { value, saved: this.#saveNext() };
    return this.#next.saved;
  }

  async #saveNext(): Promise<void> {
    // Whether that one worked is known to the callers.
    await this.#underWay.catch(() => {});
    const value = this.#next?.value;
    this.#next = undefined;
    this.#underWay = writePrivateFile(this.#path, this.#textOf(value));
    await this.#underWay;
  }

  #textOf(value: T | undefined): string {
    const { version } = this.#decode;
    return JSON.stringify(version === undefined ? value : Object.assign({ version }, value));
  }

  #valueOf(text: string): T {
    let json: unknown;
    try {
      json = JSON.parse(text);
    } catch (cause) {
      throw new DamagedFileError('not JSON', { cause });
    }
    const { version: newest } = this.#decode;
    const version = versionOf(json);
    if (newest !== undefined && version > newest) throw new NewerFileError(version, newest);
    const value = this.#decode(json, version);
    if (value === undefined) throw new DamagedFileError('JSON of another kind');
    return value;
  }

  #setAside(as: string, error: DamagedFileError | NewerFileError): void {
    const asideAs = `${this.#path}.${as}`;
    const what = error instanceof NewerFileError ? 'state file of a newer agent' : 'damaged state file';
    try {
      renameSync(this.#path, asideAs);
      this.#log.warn(`${what} set aside`, { path: this.#path, asideAs, error });
    } catch (cause) {
      this.#log.warn(`${what} not set aside`, { path: this.#path, error, cause });
    }
  }
}

/** Files of before there were versions are of the first. */
function versionOf(json: unknown): number {
  const version = isJsonObject(json) ? json['version'] : undefined;
  return typeof version === 'number' && Number.isSafeInteger(version) && version > 0 ? version : 1;
}

function readBounded(path: string): string {
  // A named pipe would keep the agent waiting.
  const file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    const stat = fstatSync(file);
    if (!stat.isFile()) throw new DamagedFileError('not a file');
    if (stat.size > MAX_BYTES) throw new DamagedFileError(`${stat.size} bytes, more than ${MAX_BYTES}`);
    return readFileSync(file, 'utf8');
  } finally {
    closeSync(file);
  }
}
