import { quote } from './go-text.ts';

/** As Go prints it: in single quotes, so that it is they which need a backslash. */
function quoteByte(byte: string): string {
  if (byte === "'") return "'\\''";
  return byte === '"' ? `'"'` : `'${quote(byte).slice(1, -1)}'`;
}

/** A JSON value; an object keeps its members in their order, and every one of those that have the same name. */
export type GoJson = null | boolean | number | string | readonly GoJson[] | GoJsonObject;
export interface GoJsonObject {
  readonly members: readonly (readonly [name: string, value: GoJson])[];
}

/** Carries the words of Go's encoding/json. */
export class GoJsonSyntaxError extends Error {
  override readonly name = 'GoJsonSyntaxError';
}

const atEnd = 'unexpected end of JSON input';
const words: ReadonlyMap<string, readonly [word: string, value: boolean | null]> = new Map([
  ['t', ['true', true]],
  ['f', ['false', false]],
  ['n', ['null', null]],
]);

/** Reads byte by byte and throws at the first that cannot stand where it does. */
class Scanner {
  readonly #bytes: string;
  #next = 0;

  constructor(text: string) {
    this.#bytes = Buffer.from(text).toString('latin1');
  }

  whole(): GoJson {
    const value = this.#value(this.#visible());
    this.#skipSpace();
    if (this.#next < this.#bytes.length) this.#refuse(this.#take(), 'after top-level value');
    return value;
  }

  #peek(): string {
    return this.#bytes[this.#next] ?? '';
  }

  /** At the end there is a space, as Go pretends: within a word or a number it is what is refused. */
  #take(): string {
    return this.#bytes[this.#next++] ?? ' ';
  }

  #takeOrEnd(): string {
    const byte = this.#bytes[this.#next++];
    if (byte === undefined) throw new GoJsonSyntaxError(atEnd);
    return byte;
  }

  /** The next byte that is no space. */
  #visible(): string {
    this.#skipSpace();
    return this.#takeOrEnd();
  }

  #skipSpace(): void {
    while (/[ \t\r\n]/.test(this.#peek())) this.#next++;
  }

  #refuse(byte: string, where: string): never {
    throw new GoJsonSyntaxError(`invalid character ${quoteByte(byte)} ${where}`);
  }

  #value(first: string): GoJson {
    if (first === '{') return this.#object();
    if (first === '[') return this.#array();
    if (first === '"') return this.#string();
    if (/[-0-9]/.test(first)) return this.#number(first);
    const [word, value] = words.get(first) ?? this.#refuse(first, 'looking for beginning of value');
    this.#word(word);
    return value;
  }

  #object(): GoJsonObject {
    const members: (readonly [string, GoJson])[] = [];
    let byte = this.#visible();
    while (byte !== '}') {
      if (byte !== '"') this.#refuse(byte, 'looking for beginning of object key string');
      const name = this.#string();
      byte = this.#visible();
      if (byte !== ':') this.#refuse(byte, 'after object key');
      members.push([name, this.#value(this.#visible())]);
      byte = this.#visible();
      if (byte === '}') break;
      if (byte !== ',') this.#refuse(byte, 'after object key:value pair');
      byte = this.#visible();
      if (byte === '}') this.#refuse(byte, 'looking for beginning of object key string');
    }
    return { members };
  }

  #array(): readonly GoJson[] {
    const items: GoJson[] = [];
    let byte = this.#visible();
    while (byte !== ']') {
      items.push(this.#value(byte));
      byte = this.#visible();
      if (byte === ']') break;
      if (byte !== ',') this.#refuse(byte, 'after array element');
      byte = this.#visible();
      if (byte === ']') this.#refuse(byte, 'looking for beginning of value');
    }
    return items;
  }

  /** Half a character becomes U+FFFD. */
  #string(): string {
    const start = this.#next - 1;
    for (let byte = this.#takeOrEnd(); byte !== '"'; byte = this.#takeOrEnd()) {
      if (byte < ' ') this.#refuse(byte, 'in string literal');
      if (byte !== '\\') continue;
      const escaped = this.#take();
      if (escaped === 'u') this.#expect(4, /[0-9a-fA-F]/, 'in \\u hexadecimal character escape');
      else if (!/["\\/bfnrt]/.test(escaped)) this.#refuse(escaped, 'in string escape code');
    }
    const text: unknown = JSON.parse(Buffer.from(this.#bytes.slice(start, this.#next), 'latin1').toString());
    return String(text).toWellFormed();
  }

  #expect(count: number, allowed: RegExp, where: string): void {
    for (let i = 0; i < count; i++) {
      const byte = this.#take();
      if (!allowed.test(byte)) this.#refuse(byte, where);
    }
  }

  #word(word: string): void {
    for (const letter of word.slice(1)) {
      const byte = this.#take();
      if (byte !== letter) this.#refuse(byte, `in literal ${word} (expecting '${letter}')`);
    }
  }

  #number(first: string): number {
    const start = this.#next - 1;
    let digit = first;
    if (first === '-') {
      digit = this.#take();
      if (!/[0-9]/.test(digit)) this.#refuse(digit, 'in numeric literal');
    }
    if (digit !== '0') this.#digits();
    if (this.#peek() === '.') {
      this.#next++;
      this.#expect(1, /[0-9]/, 'after decimal point in numeric literal');
      this.#digits();
    }
    if (/[eE]/.test(this.#peek())) {
      this.#next++;
      if (/[-+]/.test(this.#peek())) this.#next++;
      this.#expect(1, /[0-9]/, 'in exponent of numeric literal');
      this.#digits();
    }
    return Number(this.#bytes.slice(start, this.#next));
  }

  #digits(): void {
    while (/[0-9]/.test(this.#peek())) this.#next++;
  }
}

/** JSON, read as strictly as Go does. Throws GoJsonSyntaxError. */
export function parseGoJson(text: string): GoJson {
  try {
    return new Scanner(text).whole();
  } catch (cause) {
    throw cause instanceof GoJsonSyntaxError ? cause : new GoJsonSyntaxError('exceeded max depth', { cause });
  }
}

/** What is wrong with text that is no JSON, in words that users know; undefined when it is JSON. */
export function goJsonSyntaxError(text: string): string | undefined {
  try {
    parseGoJson(text);
    return undefined;
  } catch (error) {
    if (error instanceof GoJsonSyntaxError) return error.message;
    throw error;
  }
}
