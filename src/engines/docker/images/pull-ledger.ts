import type { PullProgress } from '../../../ports/image-service.ts';

/** One line of the engine's answer to POST /images/create (moby pkg/jsonmessage). */
export type PullMessage = Readonly<Record<string, unknown>>;

interface Layer {
  readonly bytesDone: number;
  readonly bytes: number;
  readonly done: boolean;
}

/** Adds up what the engine tells about each layer. Bytes are those of the compressed download, as far as the engine has named them. */
export class PullLedger {
  readonly #layers = new Map<string, Layer>();
  #latest = 'No progress';

  /** The last message in words, for the error of a pull that was given up. */
  get latest(): string {
    return this.#latest;
  }

  get progress(): PullProgress {
    const layers = [...this.#layers.values()];
    return {
      layersDone: layers.filter((l) => l.done).length,
      layers: layers.length,
      bytesDone: layers.reduce((sum, l) => sum + l.bytesDone, 0),
      bytes: layers.reduce((sum, l) => sum + l.bytes, 0),
    };
  }

  /** Answers whether the message moved a layer. */
  add(message: PullMessage): boolean {
    const { id, status } = message;
    if (typeof status !== 'string') return false;
    const detail = progressDetail(message);
    this.#latest = `${typeof id === 'string' ? `${id}: ` : ''}${status}${detail ? ` ${detail.current}/${detail.total}` : ''}`;
    if (typeof id !== 'string') return false;
    const before = this.#layers.get(id);
    const after = nextLayer(status, before, detail);
    if (
      after === undefined ||
      (before && after.bytesDone === before.bytesDone && after.bytes === before.bytes && after.done === before.done)
    ) {
      return false;
    }
    this.#layers.set(id, after);
    return true;
  }
}

/** Undefined where the status is none of a layer: "Pulling from library/busybox" has the tag for its id. */
function nextLayer(status: string, before: Layer | undefined, detail: { current: number; total: number } | undefined): Layer | undefined {
  const layer = before ?? { bytesDone: 0, bytes: 0, done: false };
  switch (status) {
    case 'Pulling fs layer':
    case 'Waiting':
      return layer;
    case 'Downloading':
      // A total below what has come means that the registry did not tell it.
      return detail ? { ...layer, bytesDone: detail.current, bytes: Math.max(detail.total, detail.current) } : layer;
    case 'Verifying Checksum':
    case 'Download complete':
    case 'Extracting':
      return { ...layer, bytesDone: layer.bytes };
    case 'Pull complete':
    case 'Already exists':
      return { ...layer, bytesDone: layer.bytes, done: true };
    default:
      return before && status.startsWith('Retrying in ') ? { ...layer, bytesDone: 0 } : undefined;
  }
}

function progressDetail({ progressDetail: detail }: PullMessage): { readonly current: number; readonly total: number } | undefined {
  if (typeof detail !== 'object' || detail === null || !('current' in detail) || typeof detail.current !== 'number') return undefined;
  return { current: detail.current, total: 'total' in detail && typeof detail.total === 'number' ? detail.total : 0 };
}
