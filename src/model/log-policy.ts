import { quote } from './go-text.ts';
import { Quantity, QuantityParseError } from './quantity.ts';

/** How much a container's log may take: its file and those before it. */
export interface LogPolicy {
  /** From this size on the next file is begun. */
  readonly maxSizeBytes: number;
  /** All of them. */
  readonly maxFiles: number;
}

/**
 * Undefined: a negative size asks for no rotation. Throws an Error in the kubelet's words for what is no size, and for fewer than two files
 * (pkg/kubelet/logs NewContainerLogManager, parseMaxSize).
 */
export function parseLogPolicy(maxSize: string, maxFiles: number): LogPolicy | undefined {
  if (maxFiles <= 1) throw new RangeError(`invalid MaxFiles ${maxFiles}, must be > 1`);
  const maxSizeBytes = parseSize(maxSize);
  return maxSizeBytes < 0 ? undefined : { maxSizeBytes, maxFiles };
}

function parseSize(text: string): number {
  const fault = (why: string): Error => new Error(`failed to parse container log max size ${quote(text)}: ${why}`);
  let size: Quantity;
  try {
    size = Quantity.parse(text);
  } catch (error) {
    if (!(error instanceof QuantityParseError)) throw error;
    throw fault(error.message);
  }
  const bytes = size.value();
  if (!isWrittenWhole(text) || BigInt.asIntN(64, bytes) !== bytes) throw fault('invalid max log size');
  return Number(bytes);
}

const exponents: ReadonlyMap<string, number> = new Map([
  ['n', -9],
  ['u', -6],
  ['m', -3],
  ['', 0],
  ['k', 3],
  ['M', 6],
  ['G', 9],
  ['T', 12],
  ['P', 15],
  ['E', 18],
]);

/** Whether a quantity has no decimals left once its suffix is counted in: "1.5k" has none, "1.0", "1000m" and "5.5Ki" have (Quantity.AsInt64). */
function isWrittenWhole(text: string): boolean {
  const [, decimals = '', suffix = ''] = /^[+-]?\d*(?:\.(\d*))?(.*)$/.exec(text) ?? [];
  if (suffix.endsWith('i')) return decimals === '';
  return (exponents.get(suffix) ?? Number(suffix.slice(1))) >= decimals.length;
}
