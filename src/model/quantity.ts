import { trimSpace } from './go-text.ts';

/** How an amount was written, and so how it is printed. Empty for the amount of a JSON null. */
export type QuantityFormat = 'DecimalSI' | 'BinarySI' | 'DecimalExponent' | '';

/** Carries Kubernetes' own message (k8s.io/apimachinery/pkg/api/resource, quantity.go). */
export class QuantityParseError extends Error {
  override readonly name = 'QuantityParseError';
}

const wrongFormat = "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";
const wrongNumber = 'unable to parse numeric part of quantity';
const wrongSuffix = "unable to parse quantity's suffix";

const pattern = /^([+-]?)0*([0-9]*)(?:\.([0-9]*))?([eEinumkKMGTP]*[-+]?[0-9]*)$/;
const decimalSuffixes: Readonly<Record<string, number>> = { n: -9, u: -6, m: -3, '': 0, k: 3, M: 6, G: 9, T: 12, P: 15, E: 18 };
const binarySuffixes: Readonly<Record<string, number>> = { Ki: 10, Mi: 20, Gi: 30, Ti: 40, Pi: 50, Ei: 60 };
const invert = (table: Readonly<Record<string, number>>): ReadonlyMap<number, string> =>
  new Map(Object.entries(table).map(([suffix, exponent]) => [exponent, suffix]));
const decimalSuffixOf = invert(decimalSuffixes);
const binarySuffixOf = invert(binarySuffixes);

/** Sums over numbers of many digits cost the square of them. No amount needs more; 1e1000 says the same as a thousand zeros. */
const MAX_CHARACTERS = 1000;
const tooLong = `quantities must be at most ${MAX_CHARACTERS} characters long`;

/** The power of ten of the smallest amount. */
const nano = -9;
const maxInt64 = 2n ** 63n - 1n;
const fitsInt64 = (n: bigint): boolean => BigInt.asIntN(64, n) === n;
/** A quantity may say 1e2000000000: digits beyond these change no answer, and computing them would take all memory. */
const maxShift = 2000;
const oneStepShifts: ReadonlySet<number> = new Set([1, 2, 3, 6, 9]);
const pow10 = (exponent: number): bigint => 10n ** BigInt(exponent);
const abs = (n: bigint): bigint => (n < 0n ? -n : n);
const sign = (n: bigint): -1 | 0 | 1 => (n === 0n ? 0 : n < 0n ? -1 : 1);

/** mantissa × 10^exponent */
interface Amount {
  readonly mantissa: bigint;
  readonly exponent: number;
}

/** A zero, too, has a smallest digit: sums take it over. */
const nothing = (exponent: number): Amount => ({ mantissa: 0n, exponent: Math.max(-maxShift, Math.min(exponent, maxShift)) });

/** How many digits stand before the decimal point, if positive. */
const magnitude = ({ mantissa, exponent }: Amount): number => abs(mantissa).toString().length + exponent;

/** In units of 10^`to`, away from zero. An amount too large for any answer comes back smaller, and still too large. */
function roundUp({ mantissa, exponent }: Amount, to: number): bigint {
  if (exponent >= to) return mantissa * pow10(Math.min(exponent - to, maxShift));
  if (magnitude({ mantissa, exponent }) <= to) return BigInt(sign(mantissa));
  const divisor = pow10(to - exponent);
  const quotient = mantissa / divisor;
  return mantissa % divisor === 0n ? quotient : quotient + BigInt(sign(mantissa));
}

function removeFactors(n: bigint, factor: bigint): readonly [rest: bigint, times: number] {
  let rest = n;
  let times = 0;
  for (; rest !== 0n && rest % factor === 0n; times++) rest /= factor;
  return [rest, times];
}

function readSuffix(suffix: string): { readonly exponent: number; readonly format: QuantityFormat } {
  const decimal = decimalSuffixes[suffix];
  if (decimal !== undefined) return { exponent: decimal, format: 'DecimalSI' };
  const binary = binarySuffixes[suffix];
  if (binary !== undefined) return { exponent: binary, format: 'BinarySI' };
  const digits = /^[eE]([+-]?[0-9]+)$/.exec(suffix)?.[1];
  if (digits === undefined || !fitsInt64(BigInt(digits))) throw new QuantityParseError(wrongSuffix);
  // Kubernetes keeps 32 bits of it.
  return { exponent: Number(BigInt.asIntN(32, BigInt(digits))), format: 'DecimalExponent' };
}

/**
 * An exact amount of a resource: resource.Quantity of k8s.io/apimachinery/pkg/api/resource, immutable.
 *
 * Kubernetes holds an amount either in an int64 or, when that may not do, in a big decimal; which of the two decides how odd
 * amounts are printed and rounded, so `big` remembers it here.
 */
export class Quantity {
  static readonly zero = new Quantity({ mantissa: 0n, exponent: 0 }, 'DecimalSI', false, '0');

  readonly format: QuantityFormat;
  readonly #amount: Amount;
  readonly #big: boolean;
  /** As written, when that is thought to be canonical; else printed once. */
  #text: string | undefined;

  private constructor(amount: Amount, format: QuantityFormat, big: boolean, text?: string) {
    this.#amount = amount;
    this.format = format;
    this.#big = big;
    this.#text = text;
  }

  /** Throws QuantityParseError. Takes no spaces. */
  static parse(text: string): Quantity {
    if (text === '0') return Quantity.zero;
    if (text.length > MAX_CHARACTERS) throw new QuantityParseError(tooLong);
    const match = text === '' ? null : pattern.exec(text);
    if (match === null) throw new QuantityParseError(wrongFormat);
    const [, minus = '', whole = '', fraction = '', suffix = ''] = match;
    const { exponent, format } = readSuffix(suffix);
    const number = whole === '' ? '0' : whole;
    const negative = minus === '-';
    const digits = number + fraction;

    // Which digits the int64 form takes, and when it keeps the text, follows ParseQuantity.
    if (format === 'BinarySI') {
      if (fraction === '' && 14 - number.length - (exponent / 10) * 3 >= 0) {
        const count = BigInt(number);
        const mantissa = count << BigInt(exponent);
        return new Quantity(
          { mantissa: negative ? -mantissa : mantissa, exponent: 0 },
          format,
          false,
          (count & 7n) === 0n ? undefined : text,
        );
      }
    } else {
      const scale = exponent - fraction.length;
      if (digits.length <= 18 && scale >= nano) {
        const mantissa = BigInt(digits);
        if (mantissa === 0n) return new Quantity(nothing(scale), format, false);
        const kept = scale % 3 === 0 && !digits.endsWith('000') && !digits.startsWith('0');
        return new Quantity({ mantissa: negative ? -mantissa : mantissa, exponent: scale }, format, false, kept ? text : undefined);
      }
    }

    if (!/[0-9]/.test(text.slice(0, text.length - suffix.length))) throw new QuantityParseError(wrongNumber);
    return Quantity.#parseBig(digits, fraction.length, exponent, format, negative);
  }

  static #parseBig(digits: string, places: number, exponent: number, format: QuantityFormat, negative: boolean): Quantity {
    let mantissa = BigInt(digits);
    if (mantissa === 0n) return new Quantity(nothing((format === 'BinarySI' ? 0 : exponent) - places), format, true);
    if (format === 'BinarySI') mantissa <<= BigInt(exponent);
    const written = { mantissa, exponent: (format === 'BinarySI' ? 0 : exponent) - places };
    // A request for something gets something: below a billionth is rounded up to one.
    let amount: Amount = written.exponent - nano > maxShift ? written : { mantissa: roundUp(written, nano), exponent: nano };
    let kind = format;
    if (format === 'BinarySI') {
      if (amount.mantissa > maxInt64 * pow10(-nano)) amount = { mantissa: maxInt64, exponent: 0 };
      else if (amount.mantissa < pow10(-nano)) kind = 'DecimalSI';
    }
    return new Quantity({ mantissa: negative ? -amount.mantissa : amount.mantissa, exponent: amount.exponent }, kind, true);
  }

  /** `count` × 10^`exponent`. */
  static of(count: bigint | number, format: QuantityFormat = 'DecimalSI', exponent = 0): Quantity {
    const mantissa = BigInt(count);
    return new Quantity({ mantissa, exponent }, format, !fitsInt64(mantissa));
  }

  /** `milli` thousandths. */
  static ofMilli(milli: bigint | number, format: QuantityFormat = 'DecimalSI'): Quantity {
    return Quantity.of(milli, format, -3);
  }

  /** From a decoded field: a number is read as it would be printed, null is nothing. Throws QuantityParseError. */
  static fromJson(value: unknown): Quantity {
    if (value === null || value === undefined) return new Quantity({ mantissa: 0n, exponent: 0 }, '', false);
    if (typeof value === 'string') return Quantity.parse(trimSpace(value));
    if (typeof value === 'number' || typeof value === 'bigint') return Quantity.parse(String(value));
    throw new QuantityParseError(wrongFormat);
  }

  /** What is printed and serialised. */
  canonical(): string {
    if (this.#text === undefined) {
      const { number, suffix } = this.canonicalParts();
      this.#text = number + suffix;
    }
    return this.#text;
  }

  toString(): string {
    return this.canonical();
  }

  toJSON(): string {
    return this.canonical();
  }

  /** The shortest exact form: a whole number, and the largest suffix that allows it. No suffix where Kubernetes has none for so large a power. */
  canonicalParts(): { readonly number: string; readonly suffix: string } {
    if (this.isZero()) return { number: '0', suffix: '' };
    const { mantissa, exponent } = this.#amount;
    if (this.format === 'BinarySI') {
      const whole = roundUp(this.#amount, 0);
      if (abs(whole) >= 1024n && (exponent >= 0 || mantissa % pow10(-exponent) === 0n)) {
        const [number, times] = removeFactors(whole, 1024n);
        return { number: String(number), suffix: binarySuffixOf.get(times * 10) ?? '' };
      }
    }
    const [rest, times] = removeFactors(mantissa, 10n);
    const power = Math.floor((exponent + times) / 3) * 3;
    const number = String(rest * pow10(exponent + times - power));
    if (this.format === 'DecimalSI' || this.format === 'BinarySI') return { number, suffix: decimalSuffixOf.get(power) ?? '' };
    return { number, suffix: power === 0 ? '' : `e${power}` };
  }

  /** Whole units, rounded up. Exact where Kubernetes' int64 would overflow. */
  value(): bigint {
    return this.#scaled(0);
  }

  /** Thousandths, rounded up. Exact where Kubernetes' int64 would overflow. */
  milliValue(): bigint {
    return this.#scaled(-3);
  }

  #scaled(to: number): bigint {
    const rounded = roundUp(this.#amount, to);
    const { mantissa, exponent } = this.#amount;
    if (!this.#big || mantissa > 0n || exponent >= to || !fitsInt64(rounded)) return rounded;
    // A negative big decimal: Kubernetes reads its low 64 bits, then rounds towards zero and adds one (scaledValue, scale_int.go).
    const shift = to - exponent;
    const read = shift < 19 ? BigInt.asIntN(64, mantissa) : mantissa;
    const divisor = pow10(shift);
    const up = read % divisor === 0n ? 0n : 1n;
    const down = shift < 19 || up === 0n ? 0n : 1n;
    return read / divisor - down + up;
  }

  /** Whether it has no fraction, by its thousandths in an int64 as Kubernetes counts them: where those overflow, some whole numbers are none. */
  isWhole(): boolean {
    const shift = this.#amount.exponent + 3;
    const milli = this.milliValue();
    // The int64 form gives up, and says 0, unless it can multiply in one step (positiveScaleInt64, math.go).
    if (!this.#big && !fitsInt64(milli) && !oneStepShifts.has(shift)) return true;
    return BigInt.asIntN(64, milli) % 1000n === 0n;
  }

  /** To a multiple of 10^`exponent`, away from zero. */
  roundUp(exponent: number): Quantity {
    if (!this.#big && this.#amount.exponent >= exponent) return this;
    if (this.#amount.exponent - exponent > maxShift) return this;
    return new Quantity({ mantissa: roundUp(this.#amount, exponent), exponent }, this.format, this.#big);
  }

  cmp(other: Quantity): -1 | 0 | 1 {
    const a = this.#amount;
    const b = other.#amount;
    const side = sign(a.mantissa);
    if (side !== sign(b.mantissa) || side === 0) return sign(BigInt(side - sign(b.mantissa)));
    const [sizeA, sizeB] = [magnitude(a), magnitude(b)];
    if (sizeA !== sizeB) return sizeA > sizeB === side > 0 ? 1 : -1;
    const low = Math.min(a.exponent, b.exponent);
    return sign(a.mantissa * pow10(a.exponent - low) - b.mantissa * pow10(b.exponent - low));
  }

  /** In this one's format, unless this one is zero. */
  add(other: Quantity): Quantity {
    return this.#plus(other.#amount, other);
  }

  /** In this one's format, unless this one is zero. */
  sub(other: Quantity): Quantity {
    return this.#plus({ mantissa: -other.#amount.mantissa, exponent: other.#amount.exponent }, other);
  }

  #plus(b: Amount, other: Quantity): Quantity {
    const a = this.#amount;
    const format = this.isZero() ? other.format : this.format;
    const big = this.#big || other.#big;
    if (!big && b.mantissa === 0n) return new Quantity(a, format, big);
    if (!big && a.mantissa === 0n) return new Quantity(b, format, big);
    // What is thousands of digits smaller is lost.
    if (Math.abs(a.exponent - b.exponent) > maxShift) {
      const first = b.mantissa === 0n || (a.mantissa !== 0n && magnitude(a) > magnitude(b));
      return new Quantity(first ? a : b, format, big);
    }

    const exponent = Math.min(a.exponent, b.exponent);
    const [x, y] = [a.mantissa * pow10(a.exponent - exponent), b.mantissa * pow10(b.exponent - exponent)];
    return new Quantity({ mantissa: x + y, exponent }, format, big || ![x, y, x + y].every(fitsInt64));
  }

  isZero(): boolean {
    return this.#amount.mantissa === 0n;
  }

  sign(): -1 | 0 | 1 {
    return sign(this.#amount.mantissa);
  }
}
