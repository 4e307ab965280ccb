import { isIP } from 'node:net';

/** An address as Go's net.IP prints it: lower case, shortened, an IPv4 address within IPv6 as IPv4. Undefined when the text is none, or has a zone. */
export function goIp(text: string): string | undefined {
  if (isIP(text) === 4) return text;
  if (isIP(text) !== 6 || text.includes('%')) return undefined;
  const short = new URL(`http://[${text}]`).hostname.slice(1, -1);
  const mapped = /^::ffff:([0-9a-f]{1,4}):([0-9a-f]{1,4})$/.exec(short);
  if (!mapped) return short;
  const [high, low] = [parseInt(mapped[1] ?? '', 16), parseInt(mapped[2] ?? '', 16)];
  return [high >> 8, high & 255, low >> 8, low & 255].join('.');
}
