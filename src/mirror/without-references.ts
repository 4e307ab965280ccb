import type { Container, PodSpec } from '../model/pod.ts';

type Volume = NonNullable<PodSpec['volumes']>[number];
type Projection = NonNullable<NonNullable<Volume['projected']>['sources']>[number];

/**
 * A static pod's spec as its mirror may show it: a node may create no pod that refers to ConfigMaps or Secrets of the API (NodeRestriction), and
 * those that a static pod refers to are none, but lie in the manifest directory. Variables of them are shown without a value, files as an empty
 * volume. The same object when there is nothing to leave out.
 */
export function withoutReferences(spec: PodSpec): PodSpec {
  const all = [...(spec.initContainers ?? []), ...spec.containers];
  const refers = all.some(containerRefers) || (spec.volumes ?? []).some(volumeRefers);
  if (!refers) return spec;
  const { initContainers, containers, volumes } = spec;
  return {
    ...spec,
    containers: containers.map(containerWithout),
    ...(initContainers && { initContainers: initContainers.map(containerWithout) }),
    ...(volumes && { volumes: volumes.map(volumeWithout) }),
  };
}

function containerRefers({ env = [], envFrom = [] }: Container): boolean {
  return envFrom.length > 0 || env.some(({ valueFrom }) => valueFrom?.configMapKeyRef ?? valueFrom?.secretKeyRef);
}

function containerWithout(container: Container): Container {
  if (!containerRefers(container)) return container;
  const { envFrom: _, env, ...rest } = container;
  const shown = env?.map((each) => (each.valueFrom?.configMapKeyRef || each.valueFrom?.secretKeyRef ? { name: each.name } : each));
  return { ...rest, ...(shown && { env: shown }) };
}

const projectionRefers = ({ configMap, secret }: Projection): boolean => configMap !== undefined || secret !== undefined;

function volumeRefers({ configMap, secret, projected }: Volume): boolean {
  return configMap !== undefined || secret !== undefined || (projected?.sources ?? []).some(projectionRefers);
}

function volumeWithout(volume: Volume): Volume {
  if (!volumeRefers(volume)) return volume;
  const { name, projected } = volume;
  const sources = (projected?.sources ?? []).filter((source) => !projectionRefers(source));
  return sources.length > 0 ? { name, projected: { ...projected, sources } } : { name, emptyDir: {} };
}
