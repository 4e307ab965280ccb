import { quote } from './go-text.ts';
import { isLabelValue, isQualifiedName } from './validation/formats.ts';

export type Labels = Readonly<Record<string, string>>;

export type LabelOperator = 'in' | 'notin' | '=' | '==' | '!=' | 'exists' | '!' | 'gt' | 'lt';

/** Carries the message of k8s.io/apimachinery/pkg/labels. */
export class LabelSelectorError extends Error {
  override readonly name = 'LabelSelectorError';
}

/** One condition on labels; made by `labelRequirement`, so valid. */
export interface LabelRequirement {
  readonly key: string;
  readonly operator: LabelOperator;
  readonly values: readonly string[];
}

export function checkLabelKey(key: string): void {
  const wrong = isQualifiedName(key);
  if (wrong.length > 0) throw new LabelSelectorError(`invalid label key ${quote(key)}: ${wrong.join('; ')}`);
}

/** strconv.ParseInt(…, 10, 64) */
function parseInt64(text: string): bigint | undefined {
  if (!/^[+-]?[0-9]+$/.test(text)) return undefined;
  const n = BigInt(text);
  return BigInt.asIntN(64, n) === n ? n : undefined;
}

function wrongValues(operator: LabelOperator, values: readonly string[]): string | undefined {
  switch (operator) {
    case 'in':
    case 'notin':
      return values.length === 0 ? "for 'in', 'notin' operators, values set can't be empty" : undefined;
    case '=':
    case '==':
    case '!=':
      return values.length === 1 ? undefined : 'exact-match compatibility requires one single value';
    case 'exists':
    case '!':
      return values.length === 0 ? undefined : 'values set must be empty for exists and does not exist';
    case 'gt':
    case 'lt':
      if (values.length !== 1) return "for 'Gt', 'Lt' operators, exactly one value is required";
      return parseInt64(values[0] ?? '') === undefined ? "for 'Gt', 'Lt' operators, the value must be an integer" : undefined;
    default:
      return operator satisfies never;
  }
}

/** Throws LabelSelectorError. */
export function labelRequirement(key: string, operator: LabelOperator, values: readonly string[]): LabelRequirement {
  checkLabelKey(key);
  const wrong = wrongValues(operator, values);
  if (wrong !== undefined) throw new LabelSelectorError(wrong);
  for (const value of values) {
    const about = isLabelValue(value);
    if (about.length > 0) throw new LabelSelectorError(`invalid label value: ${quote(value)}: at key: ${quote(key)}: ${about.join('; ')}`);
  }
  return { key, operator, values };
}

/** What is not there is not in any set, and neither greater nor less than anything. */
export function requirementMatches({ key, operator, values }: LabelRequirement, labels: Labels): boolean {
  const value = Object.hasOwn(labels, key) ? labels[key] : undefined;
  switch (operator) {
    case 'in':
    case '=':
    case '==':
      return value !== undefined && values.includes(value);
    case 'notin':
    case '!=':
      return value === undefined || !values.includes(value);
    case 'exists':
      return value !== undefined;
    case '!':
      return value === undefined;
    case 'gt':
    case 'lt': {
      const [have, limit] = [parseInt64(value ?? ''), parseInt64(values[0] ?? '')];
      return have !== undefined && limit !== undefined && (operator === 'gt' ? have > limit : have < limit);
    }
    default:
      return operator satisfies never;
  }
}

/** As a selector writes it, with sorted values. */
export function requirementText({ key, operator, values }: LabelRequirement): string {
  const list = values.toSorted().join(',');
  switch (operator) {
    case 'exists':
      return key;
    case '!':
      return `!${key}`;
    case 'in':
    case 'notin':
      return `${key} ${operator} (${list})`;
    case 'gt':
      return `${key}>${list}`;
    case 'lt':
      return `${key}<${list}`;
    case '=':
    case '==':
    case '!=':
      return `${key}${operator}${list}`;
    default:
      return operator satisfies never;
  }
}
