import { checkLabelKey, type LabelOperator, type LabelRequirement, labelRequirement, LabelSelectorError } from './label-requirement.ts';

/** "in" and "notin" are words too: only where an operator is due do they mean more. The end is the empty symbol. */
interface Token {
  readonly word: boolean;
  readonly text: string;
}

const end: Token = { word: false, text: '' };
const token = /[ \t\r\n]*(?:(==|!=|[=!(),<>])|([^=!(),<> \t\r\n\0]+))\0?/gy;

function scan(text: string): readonly Token[] {
  return Array.from(text.matchAll(token), ([, symbol, word = '']) => ({ word: symbol === undefined, text: symbol ?? word }));
}

const operators: ReadonlyMap<string, LabelOperator> = new Map([
  ['in', 'in'],
  ['notin', 'notin'],
  ['=', '='],
  ['==', '=='],
  ['!=', '!='],
  ['>', 'gt'],
  ['<', 'lt'],
]);

class Parser {
  readonly #tokens: readonly Token[];
  #at = 0;

  constructor(text: string) {
    this.#tokens = scan(text);
  }

  requirements(): readonly LabelRequirement[] {
    const requirements: LabelRequirement[] = [];
    if (this.#peek() === end) return requirements;
    if (!this.#startsRequirement())
      throw new LabelSelectorError(`found '${this.#peek().text}', expected: !, identifier, or 'end of string'`);
    for (;;) {
      requirements.push(this.#prefixed());
      const next = this.#next();
      if (next === end) return requirements;
      if (next.text !== ',' || next.word) throw new LabelSelectorError(`found '${next.text}', expected: ',' or 'end of string'`);
      if (!this.#startsRequirement()) throw new LabelSelectorError(`found '${this.#peek().text}', expected: identifier after ','`);
    }
  }

  #prefixed(): LabelRequirement {
    try {
      return this.#requirement();
    } catch (error) {
      throw error instanceof LabelSelectorError ? new LabelSelectorError(`unable to parse requirement: ${error.message}`) : error;
    }
  }

  #requirement(): LabelRequirement {
    const absent = this.#takeSymbol('!');
    const key = this.#word('found %, expected: identifier');
    checkLabelKey(key);
    if (absent) return labelRequirement(key, '!', []);
    if (this.#peek() === end || this.#isSymbol(',')) return labelRequirement(key, 'exists', []);
    const { text } = this.#next();
    const operator = operators.get(text);
    if (operator === undefined) throw new LabelSelectorError(`found '${text}', expected: '=', '!=', '==', 'in', notin'`);
    const values = operator === 'in' || operator === 'notin' ? this.#values() : [this.#exactValue()];
    return labelRequirement(key, operator, [...new Set(values)].sort());
  }

  #exactValue(): string {
    return this.#peek() === end || this.#isSymbol(',') ? '' : this.#word('found %, expected: identifier');
  }

  /** "(a,b)"; what is missing beside a comma, or within "()", is the empty value. */
  #values(): readonly string[] {
    if (!this.#takeSymbol('(')) throw new LabelSelectorError(`found '${this.#peek().text}' expected: '('`);
    if (this.#takeSymbol(')')) return [''];
    const first = this.#peek();
    if (!first.word && first.text !== ',') throw new LabelSelectorError(`found '${first.text}', expected: ',', ')' or identifier`);
    const values: string[] = [];
    for (;;) {
      if (this.#takeSymbol(',')) {
        if (values.length === 0) values.push('');
        if (this.#takeSymbol(')')) return [...values, ''];
        if (this.#takeSymbol(',')) values.push('');
        continue;
      }
      values.push(this.#word("found %, expected: ',', or identifier"));
      if (this.#takeSymbol(')')) return values;
      if (!this.#isSymbol(',')) throw new LabelSelectorError(`found '${this.#peek().text}', expected: ',' or ')'`);
    }
  }

  #startsRequirement(): boolean {
    return this.#peek().word || this.#isSymbol('!');
  }

  #word(complaint: string): string {
    const { word, text } = this.#next();
    if (!word) throw new LabelSelectorError(complaint.replace('%', () => `'${text}'`));
    return text;
  }

  #isSymbol(symbol: string): boolean {
    const { word, text } = this.#peek();
    return !word && text === symbol;
  }

  #takeSymbol(symbol: string): boolean {
    const found = this.#isSymbol(symbol);
    if (found) this.#at++;
    return found;
  }

  #peek(): Token {
    return this.#tokens[this.#at] ?? end;
  }

  #next(): Token {
    return this.#tokens[this.#at++] ?? end;
  }
}

/** In the order written (k8s.io/apimachinery/pkg/labels). Throws LabelSelectorError. */
export function parseLabelRequirements(text: string): readonly LabelRequirement[] {
  return new Parser(text).requirements();
}
