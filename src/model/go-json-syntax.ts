import { quote } from './go-text.ts';

/** As Go prints it: in single quotes, so that it is they which need a backslash. */
function quoteByte(byte: string): string {
  if (byte === "'") return "'\\''";
  return byte === '"' ? `'"'` : `'${quote(byte).slice(1, -1)}'`;
}

class SyntaxFault extends Error {}
const atEnd = 'unexpected end of JSON input';
const words: Readonly<Record<string, string>> = { t: 'true', f: 'false', n: 'null' };

/** Reads byte by byte and throws at the first that cannot stand where it does. */
class Scanner {
  readonly #bytes: string;
  #next = 0;

  constructor(text: string) {
    this.#bytes = Buffer.from(text).toString('latin1');
  }

  whole(): void {
    this.#value(this.#visible());
    while (this.#next < this.#bytes.length) this.#refuse(this.#visible(true), 'after top-level value');
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
    if (byte === undefined) throw new SyntaxFault(atEnd);
    return byte;
  }

  /** The next byte that is no space. */
  #visible(endIsFine = false): string {
    while (/[ \t\r\n]/.test(this.#peek())) this.#next++;
    return endIsFine && this.#peek() === '' ? '' : this.#takeOrEnd();
  }

  #refuse(byte: string, where: string): void {
    if (byte !== '') throw new SyntaxFault(`invalid character ${quoteByte(byte)} ${where}`);
  }

  #value(first: string): void {
    const word = words[first];
    if (first === '{') this.#object();
    else if (first === '[') this.#array();
    else if (first === '"') this.#string();
    else if (word !== undefined) this.#word(word);
    else if (/[-0-9]/.test(first)) this.#number(first);
    else this.#refuse(first, 'looking for beginning of value');
  }

  #object(): void {
    let byte = this.#visible();
    while (byte !== '}') {
      if (byte !== '"') this.#refuse(byte, 'looking for beginning of object key string');
      this.#string();
      byte = this.#visible();
      if (byte !== ':') this.#refuse(byte, 'after object key');
      this.#value(this.#visible());
      byte = this.#visible();
      if (byte === '}') return;
      if (byte !== ',') this.#refuse(byte, 'after object key:value pair');
      byte = this.#visible();
      if (byte === '}') this.#refuse(byte, 'looking for beginning of object key string');
    }
  }

  #array(): void {
    let byte = this.#visible();
    while (byte !== ']') {
      this.#value(byte);
      byte = this.#visible();
      if (byte === ']') return;
      if (byte !== ',') this.#refuse(byte, 'after array element');
      byte = this.#visible();
      if (byte === ']') this.#refuse(byte, 'looking for beginning of value');
    }
  }

  #string(): void {
    for (let byte = this.#takeOrEnd(); byte !== '"'; byte = this.#takeOrEnd()) {
      if (byte < ' ') this.#refuse(byte, 'in string literal');
      if (byte !== '\\') continue;
      const escaped = this.#take();
      if (escaped === 'u') this.#expect(4, /[0-9a-fA-F]/, 'in \\u hexadecimal character escape');
      else if (!/["\\/bfnrt]/.test(escaped)) this.#refuse(escaped, 'in string escape code');
    }
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

  #number(first: string): void {
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
    if (!/[eE]/.test(this.#peek())) return;
    this.#next++;
    if (/[-+]/.test(this.#peek())) this.#next++;
    this.#expect(1, /[0-9]/, 'in exponent of numeric literal');
    this.#digits();
  }

  #digits(): void {
    while (/[0-9]/.test(this.#peek())) this.#next++;
  }
}

/** What Go's encoding/json says of text that is no JSON, for messages that users know; undefined when it is JSON. */
export function goJsonSyntaxError(text: string): string | undefined {
  try {
    new Scanner(text).whole();
    return undefined;
  } catch (error) {
    if (error instanceof SyntaxFault) return error.message;
    return 'exceeded max depth';
  }
}
