import { basename, dirname, join } from 'node:path';
import type { Subscription } from 'rxjs';
import type { Clock } from '../../../base/clock.ts';
import { isRotatedLog } from '../../../model/log-rotation.ts';
import { type LogNames, namesBeside } from '../../common/logs/rotated-logs.ts';

/** So long after it was asked to reopen a log may a runtime still write lines to the old file: containerd does not wait for the last of them. */
const SETTLE_MS = 1_000;

/** The log files that this agent rotates itself, as the kubelet names them: LOG becomes LOG.20260304-050607. Compressed ones do not count. */
export class TimestampedLogs implements LogNames {
  readonly #clock: Pick<Clock, 'schedule'>;
  /** Undefined: just being rotated. */
  readonly #settling = new Map<string, Subscription | undefined>();

  constructor(clock: Pick<Clock, 'schedule'>) {
    this.#clock = clock;
  }

  async indexes(path: string): Promise<readonly number[]> {
    const names = await namesBeside(path);
    const rotated = rotatedOf(path, names).map((_, place) => place + 1);
    return names.includes(basename(path)) ? [0, ...rotated] : rotated;
  }

  async nameOf(path: string, index: number): Promise<string | undefined> {
    if (index === 0) return path;
    const name = rotatedOf(path, await namesBeside(path))[index - 1];
    return name === undefined ? undefined : join(dirname(path), name);
  }

  isSettling(path: string): boolean {
    return this.#settling.has(path);
  }

  /** Who follows the log stays with the old file until `rotate` is through and the runtime has written its last line to it. */
  async whileRotating(path: string, rotate: () => Promise<void>): Promise<void> {
    this.#settling.get(path)?.unsubscribe();
    this.#settling.set(path, undefined);
    try {
      await rotate();
    } finally {
      const settled = this.#clock.schedule(() => this.#settling.delete(path), SETTLE_MS);
      this.#settling.set(path, settled);
    }
  }
}

/** The newest first. */
const rotatedOf = (path: string, names: readonly string[]): readonly string[] =>
  names.filter((name) => isRotatedLog(basename(path), name)).toSorted((a, b) => (a < b ? 1 : -1));
