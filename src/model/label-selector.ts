import type { V1LabelSelector } from '@kubernetes/client-node';
import { quote } from './go-text.ts';
import {
  labelRequirement,
  type LabelOperator,
  type LabelRequirement,
  type Labels,
  LabelSelectorError,
  requirementMatches,
  requirementText,
} from './label-requirement.ts';
import { parseLabelRequirements } from './parse-label-requirements.ts';
import type { Wire } from './wire.ts';

/** Which labels are meant: all requirements at once. */
export class LabelSelector {
  static readonly everything = new LabelSelector([]);
  static readonly nothing = new LabelSelector(undefined);

  /** In the order of their keys; undefined matches nothing. */
  readonly requirements: readonly LabelRequirement[] | undefined;

  private constructor(requirements: readonly LabelRequirement[] | undefined) {
    this.requirements = requirements;
  }

  /** From "app=web,tier in (a,b),!old" (k8s.io/apimachinery/pkg/labels Parse). Throws LabelSelectorError. */
  static parse(text: string): LabelSelector {
    return LabelSelector.#of(parseLabelRequirements(text));
  }

  /** From an API object: none matches nothing, an empty one everything (metav1.LabelSelectorAsSelector). Throws LabelSelectorError. */
  static fromObject(object: Wire<V1LabelSelector> | null | undefined): LabelSelector {
    if (object === null || object === undefined) return LabelSelector.nothing;
    const exact = Object.entries(object.matchLabels ?? {}).map(([key, value]) => labelRequirement(key, '=', [value]));
    const sets = (object.matchExpressions ?? []).map(({ key, operator, values }) =>
      labelRequirement(key ?? '', setOperator(operator ?? ''), values ?? []),
    );
    return LabelSelector.#of([...exact, ...sets]);
  }

  static #of(requirements: readonly LabelRequirement[]): LabelSelector {
    return new LabelSelector(requirements.toSorted((a, b) => (a.key === b.key ? 0 : a.key < b.key ? -1 : 1)));
  }

  matches(labels: Labels): boolean {
    return this.requirements?.every((requirement) => requirementMatches(requirement, labels)) ?? false;
  }

  /** In canonical form. */
  toString(): string {
    return (this.requirements ?? []).map(requirementText).join(',');
  }
}

const setOperators: ReadonlyMap<string, LabelOperator> = new Map([
  ['In', 'in'],
  ['NotIn', 'notin'],
  ['Exists', 'exists'],
  ['DoesNotExist', '!'],
]);

function setOperator(name: string): LabelOperator {
  const operator = setOperators.get(name);
  if (operator === undefined) throw new LabelSelectorError(`${quote(name)} is not a valid pod selector operator`);
  return operator;
}
