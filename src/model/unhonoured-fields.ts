import type { Container, Pod } from './pod.ts';

/** Fields of a pod that ask for something that this agent does not do yet, as paths. A pod that uses them runs without it, or is held where that would be wrong. */
export function unhonouredFields({ spec }: Pick<Pod, 'spec'>): readonly string[] {
  const paths: string[] = [];
  for (const [list, containers] of [
    ['spec.initContainers', spec.initContainers ?? []],
    ['spec.containers', spec.containers],
  ] as const) {
    containers.forEach((container, i) => paths.push(...ofContainer(container).map((path) => `${list}[${i}].${path}`)));
  }
  for (const [i, { emptyDir }] of (spec.volumes ?? []).entries()) {
    if (emptyDir?.medium && emptyDir.medium !== 'Memory') paths.push(`spec.volumes[${i}].emptyDir.medium`);
    if (emptyDir?.sizeLimit && emptyDir.medium !== 'Memory') paths.push(`spec.volumes[${i}].emptyDir.sizeLimit`);
  }
  for (const field of ['runtimeClassName'] as const) {
    if (spec[field] !== undefined) paths.push(`spec.${field}`);
  }
  return paths;
}

function ofContainer(container: Container): readonly string[] {
  return (['volumeDevices'] as const).filter((field) => container[field] !== undefined);
}
