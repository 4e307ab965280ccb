import { GoDurationError, parseGoDuration } from '../go-duration.ts';
import { quote } from '../go-text.ts';
import { Quantity, QuantityParseError } from '../quantity.ts';
import { isHard, type Signal, signals, type Threshold, type ThresholdValue } from './threshold.ts';

type Texts = Readonly<Record<string, string>>;

/** As configured: signal → text. */
export interface EvictionConfig {
  readonly evictionHard: Texts;
  readonly evictionSoft: Texts;
  readonly evictionSoftGracePeriod: Texts;
  readonly evictionMinimumReclaim: Texts;
  readonly enforceNodeAllocatable: readonly string[];
}

export interface EvictionFault {
  readonly field: Exclude<keyof EvictionConfig, 'enforceNodeAllocatable'>;
  readonly signal: string;
  /** Undefined: there is none, and there should be. */
  readonly text: string | undefined;
  /** In the kubelet's words where it has some. */
  readonly message: string;
}

export interface ParsedThresholds {
  readonly thresholds: readonly Threshold[];
  /** In the order in which the kubelet looks; it says the first. */
  readonly faults: readonly EvictionFault[];
}

class ThresholdError extends Error {}

const NS_PER_MS = 1e6;
/** Above this a float32 is infinite. */
const MAX_FLOAT32 = 2 ** 128 - 2 ** 103;

/** Eviction thresholds of a configuration (ParseThresholdConfig). The order says nothing. */
export function parseThresholds(config: EvictionConfig): ParsedThresholds {
  const faults: EvictionFault[] = [];
  const hard = parseAll(config, 'evictionHard', parseValue, faults);
  const soft = parseAll(config, 'evictionSoft', parseValue, faults);
  const graces = parseAll(config, 'evictionSoftGracePeriod', parseGrace, faults);
  const reclaims = parseAll(config, 'evictionMinimumReclaim', parseReclaim, faults);
  const thresholds: Threshold[] = [];
  for (const [signal, value] of hard) thresholds.push({ signal, value, graceMs: 0, minReclaim: reclaims.get(signal) });
  for (const [signal, value] of soft) {
    const graceMs = graces.get(signal);
    if (graceMs === undefined) {
      if (!faults.some(({ field, signal: of }) => field === 'evictionSoftGracePeriod' && of === signal)) faults.push(withoutGrace(signal));
      continue;
    }
    thresholds.push({ signal, value, graceMs, minReclaim: reclaims.get(signal) });
  }
  const forPods = config.enforceNodeAllocatable.includes('pods')
    ? thresholds.filter((threshold) => threshold.signal === 'memory.available' && isHard(threshold))
    : [];
  thresholds.push(...forPods.map((threshold) => ({ ...threshold, signal: 'allocatableMemory.available' as const })));
  return { thresholds, faults };
}

const withoutGrace = (signal: Signal): EvictionFault => ({
  field: 'evictionSoftGracePeriod',
  signal,
  text: undefined,
  message: `grace period must be specified for the soft eviction threshold ${signal}`,
});

const isSignal = (name: string): name is Signal => signals.some((signal) => signal === name);

function parseAll<T>(
  config: EvictionConfig,
  field: EvictionFault['field'],
  parse: (signal: Signal, text: string) => T | undefined,
  faults: EvictionFault[],
): ReadonlyMap<Signal, T> {
  const parsed = new Map<Signal, T>();
  for (const [signal, text] of Object.entries(config[field])) {
    try {
      if (!isSignal(signal)) throw new ThresholdError(`unsupported eviction signal ${signal}`);
      const value = parse(signal, text);
      if (value !== undefined) parsed.set(signal, value);
    } catch (error) {
      const isFault = error instanceof ThresholdError || error instanceof QuantityParseError || error instanceof GoDurationError;
      if (!isFault) throw error;
      faults.push({ field, signal, text, message: error.message });
    }
  }
  return parsed;
}

/** Undefined: nothing is to be watched. */
function parseValue(signal: Signal, text: string): ThresholdValue | undefined {
  if (text === '0%' || text === '100%') return undefined;
  if (text.endsWith('%')) {
    const percentage = parsePercentage(text);
    if (percentage < 0) throw new ThresholdError(`eviction percentage threshold ${signal} must be >= 0%: ${text}`);
    if (percentage > 1) throw new ThresholdError(`eviction percentage threshold ${signal} must be <= 100%: ${text}`);
    return { percentage };
  }
  const quantity = Quantity.parse(text);
  if (quantity.sign() <= 0) throw new ThresholdError(`eviction threshold ${signal} must be positive: ${quantity.canonical()}`);
  return { quantity };
}

function parseReclaim(signal: Signal, text: string): ThresholdValue {
  if (text.endsWith('%')) {
    const percentage = parsePercentage(text);
    if (percentage <= 0) throw new ThresholdError(`eviction percentage minimum reclaim ${signal} must be positive: ${text}`);
    return { percentage };
  }
  const quantity = Quantity.parse(text);
  if (quantity.sign() < 0) throw new ThresholdError(`negative eviction minimum reclaim specified for ${signal}`);
  return { quantity };
}

function parseGrace(_signal: Signal, text: string): number {
  const ns = parseGoDuration(text);
  if (ns < 0n) throw new ThresholdError(`invalid eviction grace period specified: ${text}, must be a positive value`);
  return Number(ns) / NS_PER_MS;
}

/** In the precision of Kubernetes, a float32, so that both have the same number of bytes. */
function parsePercentage(text: string): number {
  const number = text.replace(/%+$/, '');
  const value = parseFloat32(number);
  if (value === undefined) throw new ThresholdError(`strconv.ParseFloat: parsing ${quote(number)}: invalid syntax`);
  if (value === 'too large') throw new ThresholdError(`strconv.ParseFloat: parsing ${quote(number)}: value out of range`);
  return Math.fround(value / 100);
}

const decimal = /^[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?$/;
const infinity = /^[+-]?inf(inity)?$/i;
const hexadecimal = /^([+-]?)0x([0-9a-f]*)\.?([0-9a-f]*)p([+-]?[0-9]+)$/i;
const betweenDigits = /(?<=[0-9a-fA-FxX])_(?=[0-9a-fA-F])/g;

/** strconv.ParseFloat for 32 bits. Undefined: not a number that Go writes. */
function parseFloat32(text: string): number | 'too large' | undefined {
  if (/^nan$/i.test(text)) return NaN;
  if (infinity.test(text)) return text.startsWith('-') ? -Infinity : Infinity;
  const digits = text.replace(betweenDigits, '');
  const value = decimal.test(digits) ? Number(digits) : fromHex(digits);
  if (value === undefined) return undefined;
  return Math.abs(value) >= MAX_FLOAT32 ? 'too large' : Math.fround(value);
}

function fromHex(text: string): number | undefined {
  const [, sign, whole = '', fraction = '', exponent] = hexadecimal.exec(text) ?? [];
  if (whole + fraction === '') return undefined;
  const magnitude = Number.parseInt(whole + fraction, 16) * 2 ** (Number(exponent) - 4 * fraction.length);
  return sign === '-' ? -magnitude : magnitude;
}
