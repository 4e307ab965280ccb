import type { V1NodeSelector, V1NodeSelectorRequirement, V1NodeSelectorTerm } from '@kubernetes/client-node';
import { labelRequirement, type LabelOperator, type Labels, LabelSelectorError, requirementMatches } from './label-requirement.ts';
import type { Node } from './node.ts';
import type { PodSpec } from './pod.ts';
import type { Wire } from './wire.ts';

type Term = Wire<V1NodeSelectorTerm>;
type Requirement = Wire<V1NodeSelectorRequirement>;

/**
 * Whether the node is one that the pod asks for: all of nodeSelector, and one term of the required node affinity
 * (PodMatchesNodeSelectorAndAffinityTerms in pkg/scheduler). A term that says nothing, or nonsense, matches no node.
 */
export function matchesNode({ nodeSelector = {}, affinity }: Pick<PodSpec, 'nodeSelector' | 'affinity'>, node: Node): boolean {
  const labels = node.metadata?.labels ?? {};
  if (!Object.entries(nodeSelector).every(([key, value]) => labels[key] === value)) return false;
  const required = affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution;
  return required === undefined || matchesNodeSelector(required, node);
}

/** Whether one term of the selector matches the node: a pod's, or a persistent volume's. */
export function matchesNodeSelector({ nodeSelectorTerms }: Wire<V1NodeSelector>, { metadata }: Node): boolean {
  return (nodeSelectorTerms ?? []).some((term) => termMatches(term, metadata?.labels ?? {}, metadata?.name ?? ''));
}

function termMatches({ matchExpressions = [], matchFields = [] }: Term, labels: Labels, name: string): boolean {
  if (matchExpressions.length === 0 && matchFields.length === 0) return false;
  try {
    const expressions = matchExpressions.map(({ key, operator, values }) => labelRequirement(key, operatorOf(operator), values ?? []));
    const fields = matchFields.map(fieldRequirement);
    return expressions.every((one) => requirementMatches(one, labels)) && fields.every((fieldMatches) => fieldMatches(name));
  } catch (error) {
    if (error instanceof LabelSelectorError) return false;
    throw error;
  }
}

/** The only field is the node's name. */
function fieldRequirement({ key, operator, values = [] }: Requirement): (name: string) => boolean {
  if (values.length !== 1 || (operator !== 'In' && operator !== 'NotIn')) throw new LabelSelectorError('not a node field selector');
  return (name) => {
    const have = key === 'metadata.name' ? name : '';
    return name === '' || (have === values[0]) === (operator === 'In');
  };
}

const operators: ReadonlyMap<string, LabelOperator> = new Map([
  ['In', 'in'],
  ['NotIn', 'notin'],
  ['Exists', 'exists'],
  ['DoesNotExist', '!'],
  ['Gt', 'gt'],
  ['Lt', 'lt'],
]);

function operatorOf(name: string): LabelOperator {
  const operator = operators.get(name);
  if (operator === undefined) throw new LabelSelectorError(`"${name}" is not a valid node selector operator`);
  return operator;
}
