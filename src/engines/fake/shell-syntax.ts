/** A word with its quotes read: the text between, and the variables to put in. */
export type Word = readonly (string | { readonly variable: string })[];

/** A file that is written to. */
export interface FileTarget {
  readonly path: string;
  /** Else what it held is lost. */
  readonly append: boolean;
}

/** `2>&1` and the like: what is read from a file comes from nowhere. */
export interface Redirection {
  readonly fd: number;
  readonly to: number | 'nowhere' | FileTarget;
}

export type Script =
  | { readonly kind: 'simple'; readonly words: readonly Word[]; readonly redirections: readonly Redirection[] }
  | { readonly kind: 'list'; readonly items: readonly { readonly script: Script; readonly background: boolean }[] }
  | { readonly kind: 'and' | 'or' | 'pipe'; readonly left: Script; readonly right: Script }
  | { readonly kind: 'not' | 'subshell'; readonly body: Script }
  | { readonly kind: 'loop'; readonly while: boolean; readonly condition: Script; readonly body: Script }
  | { readonly kind: 'for'; readonly name: string; readonly words: readonly Word[]; readonly body: Script }
  | { readonly kind: 'if'; readonly condition: Script; readonly body: Script; readonly otherwise: Script | undefined };

/** Words are values, operators and keywords plain text. */
type Token =
  | { readonly operator: string }
  | { readonly word: Word; readonly plain: string | undefined; readonly redirections: Redirection[] };

export class ShellSyntaxError extends Error {}

const SPACE = /^[ \t\r]+|^\\\n|^#[^\n]*/;
const REDIRECTION = /^\d*(?:>&\d|<&\d|>>|>\||[<>])/;
const OPERATOR = /^(?:&&|\|\||;;|[;&|()\n])/;
const VARIABLE = /^\$(?:\{([A-Za-z_]\w*|[?$#])(?::?-[^}]*)?\}|([A-Za-z_]\w*|[?$#0-9]))/;

/** The length of the `$(…)` or backquoted part that `text` begins with, 0 for none. What it would print is not known here. */
function substitutionLength(text: string): number {
  if (text.startsWith('`')) return text.indexOf('`', 1) + 1 || text.length;
  if (!text.startsWith('$(')) return 0;
  let depth = 0;
  for (let i = 1; i < text.length; i++) {
    if (text[i] === '(') depth++;
    if (text[i] === ')' && --depth === 0) return i + 1;
  }
  return text.length;
}

function readWord(text: string): { readonly word: Word; readonly plain: string | undefined; readonly length: number } {
  const word: (string | { readonly variable: string })[] = [];
  let literal = '';
  let plain = true;
  let quoted = false;
  let at = 0;
  for (; at < text.length;) {
    const rest = text.slice(at);
    const char = rest[0] ?? '';
    const variable = VARIABLE.exec(rest);
    const substitution = substitutionLength(rest);
    if (char === '"') {
      quoted = !quoted;
      at += 1;
    } else if (char === "'" && !quoted) {
      const end = rest.indexOf("'", 1);
      if (end < 0) throw new ShellSyntaxError('unterminated quoted string');
      literal += rest.slice(1, end);
      at += end + 1;
    } else if (char === '\\') {
      literal += rest[1] ?? '';
      at += 2;
    } else if (variable) {
      word.push(literal, { variable: variable[1] ?? variable[2] ?? '' });
      literal = '';
      at += variable[0].length;
    } else if (substitution > 0) {
      at += substitution;
    } else if (!quoted && /[ \t\r\n;&|()<>]/.test(char)) {
      break;
    } else {
      literal += char;
      at += 1;
      continue;
    }
    plain = false;
  }
  if (quoted) throw new ShellSyntaxError('unterminated quoted string');
  word.push(literal);
  return { word, plain: plain ? literal : undefined, length: at };
}

const streamFiles: Readonly<Record<string, number>> = {
  '/dev/stdout': 1,
  '/proc/1/fd/1': 1,
  '/proc/self/fd/1': 1,
  '/dev/stderr': 2,
  '/proc/1/fd/2': 2,
  '/proc/self/fd/2': 2,
};

function tokensOf(text: string): Token[] {
  const tokens: Token[] = [];
  let redirected: { readonly fd: number; readonly sign: string; readonly append: boolean } | undefined;
  /** What stands before the first word of a command. */
  let early: Redirection[] = [];
  const redirect = (redirection: Redirection): void => {
    const last = tokens.at(-1);
    (last && 'word' in last ? last.redirections : early).push(redirection);
  };
  for (let rest = text; rest !== '';) {
    const space = SPACE.exec(rest);
    const redirection = REDIRECTION.exec(rest);
    const operator = OPERATOR.exec(rest);
    if (space) rest = rest.slice(space[0].length);
    else if (redirection) {
      const [, fd = '', sign = '', to] = /^(\d*)([<>])[>|]?(?:&(\d))?/.exec(redirection[0]) ?? [];
      const from = fd === '' ? Number(sign === '>') : Number(fd);
      if (to === undefined) redirected = { fd: from, sign, append: redirection[0].endsWith('>>') };
      else redirect({ fd: from, to: Number(to) });
      rest = rest.slice(redirection[0].length);
    } else if (operator) {
      tokens.push({ operator: operator[0] });
      rest = rest.slice(operator[0].length);
    } else {
      const { word, plain, length } = readWord(rest);
      if (redirected === undefined) {
        tokens.push({ word, plain, redirections: early });
        early = [];
      } else {
        const { fd, sign, append } = redirected;
        const file = sign === '>' && plain !== undefined ? { path: plain, append } : 'nowhere';
        redirect({ fd, to: streamFiles[plain ?? ''] ?? file });
      }
      redirected = undefined;
      rest = rest.slice(length);
    }
  }
  return tokens;
}

const CLOSING = new Set(['done', 'do', 'then', 'fi', 'else', 'elif', '}']);

class Parser {
  #at = 0;
  readonly #tokens: readonly Token[];
  constructor(tokens: readonly Token[]) {
    this.#tokens = tokens;
  }

  get #operator(): string | undefined {
    const token = this.#tokens[this.#at];
    return token && 'operator' in token ? token.operator : undefined;
  }
  get #keyword(): string | undefined {
    const token = this.#tokens[this.#at];
    return token && 'word' in token ? token.plain : undefined;
  }
  #acceptOperator(...operators: readonly string[]): string | undefined {
    const operator = this.#operator;
    if (operator === undefined || !operators.includes(operator)) return undefined;
    this.#at++;
    return operator;
  }
  #acceptKeyword(keyword: string): boolean {
    if (this.#keyword !== keyword) return false;
    this.#at++;
    return true;
  }
  #expect(what: string): void {
    if (!this.#acceptKeyword(what) && !this.#acceptOperator(what)) throw new ShellSyntaxError(`expected "${what}"`);
  }

  /** Up to the end, a closing parenthesis or a closing keyword. */
  list(): Script {
    const items: { script: Script; background: boolean }[] = [];
    for (;;) {
      while (this.#acceptOperator(';', '\n'));
      if (this.#at >= this.#tokens.length || this.#operator === ')' || CLOSING.has(this.#keyword ?? '')) return { kind: 'list', items };
      const script = this.#andOr();
      items.push({ script, background: this.#acceptOperator('&') !== undefined });
    }
  }

  end(): void {
    if (this.#at < this.#tokens.length) throw new ShellSyntaxError(`unexpected "${this.#operator ?? this.#keyword}"`);
  }

  #andOr(): Script {
    let left = this.#pipeline();
    for (let operator = this.#acceptOperator('&&', '||'); operator !== undefined; operator = this.#acceptOperator('&&', '||')) {
      while (this.#acceptOperator('\n'));
      left = { kind: operator === '&&' ? 'and' : 'or', left, right: this.#pipeline() };
    }
    return left;
  }

  #pipeline(): Script {
    if (this.#acceptKeyword('!')) return { kind: 'not', body: this.#pipeline() };
    let left = this.#command();
    while (this.#acceptOperator('|')) left = { kind: 'pipe', left, right: this.#command() };
    return left;
  }

  #block(open: string, close: string): Script {
    this.#expect(open);
    const body = this.list();
    this.#expect(close);
    return body;
  }

  #command(): Script {
    if (this.#operator === '(') return { kind: 'subshell', body: this.#block('(', ')') };
    switch (this.#keyword ?? '') {
      case '{':
        return this.#block('{', '}');
      case 'while':
      case 'until': {
        const whileTrue = this.#keyword === 'while';
        this.#at++;
        return { kind: 'loop', while: whileTrue, condition: this.list(), body: this.#block('do', 'done') };
      }
      case 'for': {
        this.#at++;
        const name = this.#keyword ?? '';
        this.#at++;
        const words = this.#acceptKeyword('in') ? this.#words() : [];
        while (this.#acceptOperator(';', '\n'));
        return { kind: 'for', name, words, body: this.#block('do', 'done') };
      }
      case 'if':
        this.#at++;
        return this.#afterIf();
      default: {
        const from = this.#at;
        const words = this.#words();
        if (words.length === 0) throw new ShellSyntaxError(`unexpected "${this.#operator ?? 'end of script'}"`);
        const redirections = this.#tokens.slice(from, this.#at).flatMap((token) => ('word' in token ? token.redirections : []));
        return { kind: 'simple', words, redirections };
      }
    }
  }

  #afterIf(): Script {
    const condition = this.list();
    this.#expect('then');
    const body = this.list();
    if (this.#acceptKeyword('elif')) return { kind: 'if', condition, body, otherwise: this.#afterIf() };
    const otherwise = this.#acceptKeyword('else') ? this.list() : undefined;
    this.#expect('fi');
    return { kind: 'if', condition, body, otherwise };
  }

  #words(): Word[] {
    const words: Word[] = [];
    for (let token = this.#tokens[this.#at]; token && 'word' in token; token = this.#tokens[this.#at]) {
      words.push(token.word);
      this.#at++;
    }
    return words;
  }
}

/** The parts of a shell's language that manifests use. Throws ShellSyntaxError. */
export function parseShell(text: string): Script {
  const parser = new Parser(tokensOf(text));
  const script = parser.list();
  parser.end();
  return script;
}
