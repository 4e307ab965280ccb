import type { Readable, Writable } from 'node:stream';

/** Copies as fast as it is read. True: all of it, or as much as anybody wanted; false: `from` broke off. */
export function copyOut(from: Readable, to: Writable): Promise<boolean> {
  return new Promise((resolve) => {
    const more = (): void => void from.resume();
    const finish = (whole: boolean): void => {
      to.off('drain', more).off('error', deaf);
      from.destroy();
      resolve(whole);
    };
    // `rxlet logs POD | head`
    const deaf = (): void => finish(true);
    to.on('drain', more).on('error', deaf);
    from.on('data', (piece: Buffer) => {
      if (!to.write(piece)) from.pause();
    });
    from
      .once('end', () => finish(true))
      .once('error', () => finish(false))
      .once('close', () => finish(false));
  });
}
