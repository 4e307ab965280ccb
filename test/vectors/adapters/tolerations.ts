import { matchesNode } from '../../../src/model/node-affinity.ts';
import type { Node, Taint } from '../../../src/model/node.ts';
import type { Pod } from '../../../src/model/pod.ts';
import { type Toleration, toleratesTaint, untoleratedTaint } from '../../../src/model/tolerations.ts';
import { isSameToleration, withToleration } from '../../../src/model/with-toleration.ts';

type In =
  | { readonly op: 'tolerates'; readonly toleration: Toleration; readonly taint: Taint }
  | { readonly op: 'matchToleration'; readonly toleration: Toleration; readonly other: Toleration }
  | { readonly op: 'anyTolerates'; readonly tolerations: readonly Toleration[]; readonly taint: Taint }
  | {
      readonly op: 'untolerated';
      readonly taints: readonly Taint[];
      readonly tolerations: readonly Toleration[];
      readonly effects?: readonly string[];
    }
  | { readonly op: 'matching'; readonly taints: readonly Taint[]; readonly tolerations: readonly Toleration[] }
  | { readonly op: 'addOrUpdate'; readonly tolerations: readonly Toleration[]; readonly toleration: Toleration }
  | { readonly op: 'nodeMatches'; readonly pod: Pod; readonly node: Node };

export function run(input: In): unknown {
  switch (input.op) {
    case 'tolerates':
      return toleratesTaint(input.toleration, input.taint);
    case 'matchToleration':
      return isSameToleration(input.toleration, input.other);
    case 'anyTolerates':
      return untoleratedTaint([input.taint], input.tolerations) === undefined;
    case 'untolerated': {
      const { effects } = input;
      const first = untoleratedTaint(
        input.taints.filter(({ effect }) => effects === undefined || effects.includes(effect)),
        input.tolerations,
      );
      return first ? { tolerated: false, first: shown(first) } : { tolerated: true };
    }
    case 'matching':
      return matching(input.taints, input.tolerations);
    case 'addOrUpdate':
      return { changed: true, tolerations: withToleration(input.tolerations, input.toleration).map(withoutEmpty) };
    case 'nodeMatches':
      return matchesNode(input.pod.spec, input.node);
    default:
      input satisfies never;
      throw new Error('unknown case');
  }
}

/** Those that are for one of the taints each, or none where a taint has none. */
function matching(taints: readonly Taint[], tolerations: readonly Toleration[]): unknown {
  const found = taints.map((taint) => tolerations.find((toleration) => toleratesTaint(toleration, taint)));
  const all = found.every((one) => one !== undefined);
  return { all, matching: all ? found : [] };
}

const shown = ({ key, value = '', effect }: Taint): string => `${key}${value === '' ? '' : `=${value}`}:${effect}`;

const withoutEmpty = (toleration: Toleration): object => Object.fromEntries(Object.entries(toleration).filter(([, value]) => value !== ''));
