import { basename, dirname, join } from 'node:path';
import { isRotatedLog } from '../../../model/log-rotation.ts';
import { type LogNames, namesBeside } from '../../common/logs/rotated-logs.ts';

/**
 * The log files that this agent rotates itself, as the kubelet names them: LOG becomes LOG.20260304-050607. Compressed ones do not count.
 * While a log is being rotated its new file is not there yet for those who have read the old one: the runtime may still write to that.
 */
export class TimestampedLogs implements LogNames {
  readonly #rotating = new Set<string>();

  async indexes(path: string): Promise<readonly number[]> {
    const names = await namesBeside(path);
    const rotated = rotatedOf(path, names).map((_, place) => place + 1);
    return names.includes(basename(path)) && !this.#rotating.has(path) ? [0, ...rotated] : rotated;
  }

  async nameOf(path: string, index: number): Promise<string | undefined> {
    if (index === 0) return this.#rotating.has(path) ? undefined : path;
    const name = rotatedOf(path, await namesBeside(path))[index - 1];
    return name === undefined ? undefined : join(dirname(path), name);
  }

  /** Keeps the new file from who follows the log until `rotate` is through. */
  async whileRotating(path: string, rotate: () => Promise<void>): Promise<void> {
    this.#rotating.add(path);
    try {
      await rotate();
    } finally {
      this.#rotating.delete(path);
    }
  }
}

/** The newest first. */
const rotatedOf = (path: string, names: readonly string[]): readonly string[] =>
  names.filter((name) => isRotatedLog(basename(path), name)).toSorted((a, b) => (a < b ? 1 : -1));
