import { createHmac, randomBytes } from 'node:crypto';
import { isJsonObject } from '../base/json-object.ts';

/** Shorter ones are in half of all texts by chance: they are hidden in the Secret itself, not elsewhere. */
const SHORTEST = 6;
/** Secrets' values that are looked for in all texts; the oldest give way. */
const MOST = 1_000;

/**
 * Keeps the values of Secrets out of a recording. In place of each stands its hash under a key that is made for this recording and written
 * nowhere: the same value has the same hash, and none can be found by guessing.
 */
export class HiddenValues {
  readonly #key = randomBytes(32);
  readonly #known = new Map<string, string>();
  #pattern: RegExp | undefined;

  /** A Secret as on the wire, with hashes for values; what is none stays as it is. From now on its values are hidden in all texts. */
  secret(object: unknown): unknown {
    if (!isJsonObject(object)) return object;
    const { data, stringData, metadata } = object;
    const shown = isJsonObject(metadata) ? { metadata: withoutAnnotations(metadata) } : {};
    return {
      ...object,
      ...shown,
      ...(isJsonObject(data) && { data: this.#each(data, (text) => this.#base64(text)) }),
      ...(isJsonObject(stringData) && { stringData: this.#each(stringData, (text) => this.value(text)) }),
    };
  }

  /** The hash that stands for this text, which is hidden in all texts from now on. */
  value(text: string): string {
    if (text === '') return text;
    const hash = `hidden-${createHmac('sha256', this.#key).update(text).digest('hex').slice(0, 16)}`;
    this.#learn(text, hash);
    return hash;
  }

  /** The text with hashes in place of the values that are known. */
  readonly text = (text: string): string => {
    if (this.#known.size === 0) return text;
    const exact = this.#known.get(text);
    if (exact !== undefined) return exact;
    this.#pattern ??= new RegExp(
      [...this.#known.keys()]
        .sort((a, b) => b.length - a.length)
        .map(literally)
        .join('|'),
      'g',
    );
    return text.replaceAll(this.#pattern, (found) => this.#known.get(found) ?? found);
  };

  #each(fields: Readonly<Record<string, unknown>>, hide: (text: string) => string): Record<string, unknown> {
    return Object.fromEntries(Object.entries(fields).map(([key, value]) => [key, hide(String(value))]));
  }

  #base64(encoded: string): string {
    const hash = this.value(Buffer.from(encoded, 'base64').toString());
    const shown = Buffer.from(hash).toString('base64');
    this.#learn(encoded, shown);
    return shown;
  }

  #learn(text: string, shown: string): void {
    if (text.length < SHORTEST || this.#known.has(text)) return;
    this.#known.set(text, shown);
    const [oldest] = this.#known.keys();
    if (this.#known.size > MOST && oldest !== undefined) this.#known.delete(oldest);
    this.#pattern = undefined;
  }
}

/** `kubectl apply` keeps there what it was given, values included. */
function withoutAnnotations(metadata: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const { annotations: _annotations, managedFields: _managed, ...rest } = metadata;
  return rest;
}

const literally = (text: string): string => text.replaceAll(/[.*+?^${}()|[\]\\/-]/g, '\\$&');
