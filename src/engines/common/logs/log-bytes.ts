/** Whether these bytes stand at `at`. */
export function matches(block: Buffer, at: number, bytes: Buffer): boolean {
  for (let i = 0; i < bytes.length; i++) if (block[at + i] !== bytes[i]) return false;
  return true;
}

export const isDigit = (byte: number): boolean => byte >= 0x30 && byte <= 0x39;
