import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { Duplex } from 'node:stream';
import { text } from 'node:stream/consumers';

/**
 * Opens `count` connections to `nc -ll -e cat`, all open at once, and shows that each hears its own words and no others. Two are dialled at
 * a time, each answered before the next: busybox listens with room for two, and Linux resets who waits outside for too long.
 */
export async function keepsApart(count: number, dial: () => Promise<Duplex>, signal?: AbortSignal): Promise<void> {
  const dialled: Duplex[] = [];
  const dialEveryOther = async (first: number): Promise<void> => {
    for (let n = first; n < count; n += 2) {
      const connection = await dial();
      dialled[n] = connection;
      connection.write(`${n}\n`);
      assert.equal(String((await once(connection, 'data', { signal }))[0]), `${n}\n`);
      // What comes next waits for its reader.
      connection.pause();
    }
  };
  await Promise.all([dialEveryOther(0), dialEveryOther(1)]);
  const heard = await Promise.all(dialled.map((connection, n) => text(connection.end(`bye ${n}\n`))));
  const said = dialled.map((_, n) => `bye ${n}\n`);
  assert.deepEqual(heard, said);
}
