/** A protobuf message that has strings alone, by the numbers of its fields; undefined: it is none. */
export function stringFields(message: Buffer): ReadonlyMap<number, string> | undefined {
  const fields = new Map<number, string>();
  for (let at = 0; at < message.length;) {
    const tag = message[at] ?? 0;
    // One byte is enough for fields up to 15; 2 is the wire type of what has a length.
    if (tag >= 0x80 || (tag & 7) !== 2) return undefined;
    let length = 0;
    let shift = 0;
    let byte: number;
    do {
      byte = message[++at] ?? 0xff;
      length |= (byte & 0x7f) << shift;
      shift += 7;
    } while (byte >= 0x80 && shift <= 21);
    const end = at + 1 + length;
    if (byte >= 0x80 || end > message.length) return undefined;
    fields.set(tag >> 3, message.toString('utf8', at + 1, end));
    at = end;
  }
  return fields;
}
