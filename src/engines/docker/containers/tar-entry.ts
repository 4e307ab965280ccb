export type TarEntry = { readonly is: 'file'; readonly data: Buffer } | { readonly is: 'link'; readonly target: string };

const BLOCK = 512;
/** What stands before an entry and says more of it, at most (maxSpecialFileSize of Go's archive/tar). */
const MAX_EXTENSION_BYTES = 1024 * 1024;

/**
 * The first entry of an archive of one (ustar, with extended headers as of pax), for a file of at most `maxBytes`. The archive is not read any
 * further.
 */
export async function readTarEntry(tar: AsyncIterable<unknown>, maxBytes: number): Promise<TarEntry> {
  const chunks = tar[Symbol.asyncIterator]();
  let held = Buffer.alloc(0);
  const take = async (bytes: number): Promise<Buffer> => {
    while (held.length < bytes) {
      const { done, value } = await chunks.next();
      if (done) throw new Error('the archive ended before its first entry did');
      held = Buffer.concat([held, value as Buffer]);
    }
    const taken = held.subarray(0, bytes);
    held = held.subarray(bytes);
    return taken;
  };
  try {
    let longTarget: string | undefined;
    for (let left = MAX_EXTENSION_BYTES; ;) {
      const header = await take(BLOCK);
      const text = (from: number, length: number): string => header.toString('utf8', from, from + length).replace(/\0.*$/s, '');
      const type = text(156, 1);
      const size = Number.parseInt(text(124, 12), 8);
      if (type === 'x' || type === 'g') {
        if (!(size <= left)) throw new Error(`the extended headers in the archive have more than ${MAX_EXTENSION_BYTES} bytes`);
        left -= size + BLOCK;
        const extension = await take(Math.ceil(size / BLOCK) * BLOCK);
        longTarget = recordOf(extension.subarray(0, size), 'linkpath') ?? longTarget;
        continue;
      }
      if (type === '2') return { is: 'link', target: longTarget ?? text(157, 100) };
      if (type !== '0' && type !== '') throw new Error(`expected a file in the archive, found an entry of type ${JSON.stringify(type)}`);
      if (!(size <= maxBytes)) throw new Error(`the file in the archive has ${size} bytes, more than ${maxBytes}`);
      return { is: 'file', data: await take(size) };
    }
  } finally {
    await chunks.return?.();
  }
}

/** The value of one of an extended header's records: "30 linkpath=…\n", whose length counts in bytes and counts itself. */
function recordOf(records: Buffer, wanted: string): string | undefined {
  for (let at = 0; at < records.length;) {
    const space = records.indexOf(' ', at);
    const length = Number.parseInt(records.toString('latin1', at, Math.min(space, at + 8)), 10);
    if (space < 0 || !(length > space - at)) throw new Error('an extended header in the archive is damaged');
    const equals = records.indexOf('=', space);
    if (records.toString('utf8', space + 1, equals) === wanted) return records.toString('utf8', equals + 1, at + length - 1);
    at += length;
  }
  return undefined;
}
