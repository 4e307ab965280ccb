export type TarEntry = { readonly is: 'file'; readonly data: Buffer } | { readonly is: 'link'; readonly target: string };

const BLOCK = 512;

/** The first entry of an archive of one (ustar), for a file of at most `maxBytes`. The archive is not read any further. */
export async function readTarEntry(tar: AsyncIterable<unknown>, maxBytes: number): Promise<TarEntry> {
  let held = Buffer.alloc(0);
  for await (const chunk of tar) {
    held = Buffer.concat([held, chunk as Buffer]);
    if (held.length < BLOCK) continue;
    const text = (from: number, length: number): string => held.toString('utf8', from, from + length).replace(/\0.*$/s, '');
    const type = text(156, 1);
    if (type === '2') return { is: 'link', target: text(157, 100) };
    if (type !== '0' && type !== '') throw new Error(`expected a file in the archive, found an entry of type ${JSON.stringify(type)}`);
    const size = Number.parseInt(text(124, 12), 8);
    if (!(size <= maxBytes)) throw new Error(`the file in the archive has ${size} bytes, more than ${maxBytes}`);
    if (held.length >= BLOCK + size) return { is: 'file', data: held.subarray(BLOCK, BLOCK + size) };
  }
  throw new Error('the archive ended before its first entry did');
}
