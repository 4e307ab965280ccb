import type { TerminalSize } from '../../ports/container-access.ts';

/** One size takes less than 40 bytes. */
const MAX_PENDING = 1024;

/**
 * Reads the sizes that a resize stream carries: `{"Width":80,"Height":24}`, one after the other, cut anywhere. After what is no size it
 * reads nothing more, as the kubelet. Sizes without an extent are left out (pkg/kubelet/container/resize.go).
 */
export class ResizeDecoder {
  #pending = '';
  #broken = false;

  push(bytes: Buffer): readonly TerminalSize[] {
    if (this.#broken) return [];
    const texts = (this.#pending + bytes.toString('latin1')).split('}');
    this.#pending = texts.pop() ?? '';
    if (this.#pending.length > MAX_PENDING) this.#broken = true;
    const sizes: TerminalSize[] = [];
    for (const text of texts) {
      const size = parseSize(`${text}}`);
      if (size === undefined) {
        this.#broken = true;
        break;
      }
      if (size.width > 0 && size.height > 0) sizes.push(size);
    }
    return sizes;
  }
}

function parseSize(text: string): TerminalSize | undefined {
  try {
    const size: unknown = JSON.parse(text);
    if (typeof size !== 'object' || size === null) return undefined;
    const fields = new Map(Object.entries(size).map(([name, value]): [string, unknown] => [name.toLowerCase(), value]));
    const width = fields.get('width') ?? 0;
    const height = fields.get('height') ?? 0;
    return isUint16(width) && isUint16(height) ? { width, height } : undefined;
  } catch {
    return undefined;
  }
}

const isUint16 = (value: unknown): value is number => Number.isInteger(value) && Number(value) >= 0 && Number(value) <= 0xffff;
