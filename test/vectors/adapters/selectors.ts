import { containerResourceByName, ContainerResourceError } from '../../../src/model/container-resource.ts';
import type { ResourceList } from '../../../src/model/node.ts';
import { extractFieldPath, FieldPathError, splitSubscript } from '../../../src/model/field-path.ts';
import { LabelSelectorError } from '../../../src/model/label-requirement.ts';
import { LabelSelector } from '../../../src/model/label-selector.ts';
import type { RawPod } from '../../../src/model/pod.ts';

type Labels = Readonly<Record<string, string>>;
type Input =
  | { readonly op: 'labels'; readonly selector: string; readonly labels?: Labels }
  | { readonly op: 'labelSelector'; readonly object?: Parameters<typeof LabelSelector.fromObject>[0]; readonly labels?: Labels }
  | { readonly op: 'fieldPath'; readonly pod: RawPod; readonly fieldPath: string }
  | { readonly op: 'splitFieldPath'; readonly fieldPath: string }
  | {
      readonly op: 'resource';
      readonly pod: RawPod;
      readonly container: string;
      readonly resource: string;
      readonly divisor?: string;
      readonly allocatable?: ResourceList;
    };

const matched = (selector: LabelSelector, labels: Labels = {}): unknown => ({
  match: selector.matches(labels),
  string: selector.toString(),
});

function answer(input: Input): unknown {
  switch (input.op) {
    case 'labels':
      return matched(LabelSelector.parse(input.selector), input.labels);
    case 'labelSelector':
      return matched(LabelSelector.fromObject(input.object), input.labels);
    case 'fieldPath':
      return { value: extractFieldPath(input.pod, input.fieldPath) };
    case 'splitFieldPath': {
      const split = splitSubscript(input.fieldPath);
      return split === undefined ? { path: input.fieldPath, subscript: '', ok: false } : { ...split, ok: true };
    }
    case 'resource': {
      const { pod, container, allocatable, divisor, resource } = input;
      return { value: containerResourceByName({ resource, ...(divisor === undefined ? {} : { divisor }) }, pod, container, allocatable) };
    }
    default:
      return input satisfies never;
  }
}

export function run(input: Input): unknown {
  try {
    return answer(input);
  } catch (error) {
    if (error instanceof LabelSelectorError || error instanceof FieldPathError || error instanceof ContainerResourceError) {
      return { error: true, message: error.message };
    }
    throw error;
  }
}
