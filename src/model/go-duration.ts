/** Carries the message of Go's time package. */
export class GoDurationError extends Error {
  override readonly name = 'GoDurationError';
}

const nsPerUnit: ReadonlyMap<string, bigint> = new Map([
  ['ns', 1n],
  ['us', 1_000n],
  ['µs', 1_000n], // U+00B5, the micro sign
  ['μs', 1_000n], // U+03BC, the Greek letter
  ['ms', 1_000_000n],
  ['s', 1_000_000_000n],
  ['m', 60_000_000_000n],
  ['h', 3_600_000_000_000n],
]);
/** One more than the largest duration: the magnitude of the smallest. */
const limit = 2n ** 63n;

/** Go's quote: bytes outside of ASCII in hexadecimal. */
function quote(text: string): string {
  let quoted = '';
  for (const byte of Buffer.from(text)) {
    if (byte >= 0x80 || byte < 0x20) quoted += `\\x${byte.toString(16).padStart(2, '0')}`;
    else quoted += byte === 0x22 || byte === 0x5c ? `\\${String.fromCharCode(byte)}` : String.fromCharCode(byte);
  }
  return `"${quoted}"`;
}

/** The fraction's nanoseconds, in the floating point that Go computes it in. Digits that 63 bits do not hold are left out. */
function fractionNs(digits: string, unit: bigint): bigint {
  let count = 0n;
  let scale = 1;
  for (const digit of digits) {
    const next = count * 10n + BigInt(digit);
    if (count > (limit - 1n) / 10n || next > limit) break;
    count = next;
    scale *= 10;
  }
  return BigInt(Math.trunc(Number(count) * (Number(unit) / scale)));
}

/** Nanoseconds of a duration such as "1h30m" or "-1.5s" (Go's time.ParseDuration). Throws GoDurationError. */
export function parseGoDuration(text: string): bigint {
  const invalid = (): GoDurationError => new GoDurationError(`time: invalid duration ${quote(text)}`);
  const negative = text.startsWith('-');
  let rest = /^[+-]/.test(text) ? text.slice(1) : text;
  if (rest === '0') return 0n;
  if (rest === '') throw invalid();
  let total = 0n;
  while (rest !== '') {
    const [number, whole = '', fraction = ''] = /^([0-9]*)(?:\.([0-9]*))?/.exec(rest) ?? [''];
    if ((whole === '' && fraction === '') || BigInt(whole) > limit) throw invalid();
    rest = rest.slice(number.length);
    const unit = /^[^.0-9]*/.exec(rest)?.[0] ?? '';
    if (unit === '') throw new GoDurationError(`time: missing unit in duration ${quote(text)}`);
    rest = rest.slice(unit.length);
    const unitNs = nsPerUnit.get(unit);
    if (unitNs === undefined) throw new GoDurationError(`time: unknown unit ${quote(unit)} in duration ${quote(text)}`);
    const ns = BigInt(whole) * unitNs + fractionNs(fraction, unitNs);
    total = BigInt.asUintN(64, total + ns);
    if (ns > limit || total > limit) throw invalid();
  }
  if (total === limit && !negative) throw invalid();
  return negative ? -total : total;
}

const decimal = (count: bigint, digits: number): string => {
  const unit = 10n ** BigInt(digits);
  const fraction = String(count % unit)
    .padStart(digits, '0')
    .replace(/0+$/, '');
  return fraction === '' || digits === 0 ? String(count / unit) : `${count / unit}.${fraction}`;
};

/** Go's time.Duration.String: "1h30m0s", "1.5s", "100ms", "0s". */
export function formatGoDuration(ns: bigint): string {
  if (ns < 0n) return `-${formatGoDuration(-ns)}`;
  if (ns === 0n) return '0s';
  if (ns < 1_000n) return `${ns}ns`;
  if (ns < 1_000_000n) return `${decimal(ns, 3)}µs`;
  if (ns < 1_000_000_000n) return `${decimal(ns, 6)}ms`;
  const minutes = ns / 60_000_000_000n;
  const seconds = `${decimal(ns % 60_000_000_000n, 9)}s`;
  if (minutes === 0n) return seconds;
  return minutes < 60n ? `${minutes}m${seconds}` : `${minutes / 60n}h${minutes % 60n}m${seconds}`;
}
