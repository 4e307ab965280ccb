import type { Pod } from './pod.ts';
import { Quantity } from './quantity.ts';

const MEDIUM = 'HugePages';
const RESOURCE = 'hugepages-';

export const isHugePageMedium = (medium: string): boolean => medium === MEDIUM || medium.startsWith(`${MEDIUM}-`);

/**
 * The size of the pages of which a volume is made, in bytes: its medium names it, or it is the only one that the pod asks for. Throws in the
 * kubelet's words where the pod asks for none, or for several (pkg/volume/emptydir getPageSizeMountOption), and QuantityParseError.
 */
export function hugePageBytes(medium: string, { spec }: Pick<Pod, 'spec'>): bigint {
  const asking = [spec, ...spec.containers, ...(spec.initContainers ?? [])];
  const names = asking.flatMap(({ resources }) => Object.keys(resources?.requests ?? {})).filter((name) => name.startsWith(RESOURCE));
  const asked = new Set(names.map((name) => Quantity.parse(name.slice(RESOURCE.length)).value()));
  const [first, ...others] =
    medium === MEDIUM ? asked : [Quantity.parse(medium.slice(MEDIUM.length + 1)).value()].filter((size) => asked.has(size));
  if (first === undefined)
    throw new Error(`medium ${medium}: hugePages storage requested, but there is no resource request for huge pages`);
  if (others.length > 0) throw new Error(`medium: ${medium} can't be used if container requests multiple huge page sizes`);
  return first;
}
