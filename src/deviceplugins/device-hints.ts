import { allChoices, countNodes, numaMask, type NumaMask } from '../model/numa-mask.ts';
import type { TopologyHint } from '../model/topology-hint.ts';
import type { PluginDevice } from './device-inventory.ts';

export interface DevicesForHints {
  /** All of the resource, healthy or not: how few nodes would do goes by them. */
  readonly all: readonly PluginDevice[];
  readonly available: readonly PluginDevice[];
  /** Of the same pod: a choice of nodes has to hold all of them that are attached to nodes. */
  readonly reusable: readonly PluginDevice[];
  readonly count: number;
}

/** Each choice of the machine's NUMA nodes with enough devices; those of as few nodes as would do are preferred (generateDeviceTopologyHints). */
export function deviceHints(machine: readonly number[], { all, available, reusable, count }: DevicesForHints): readonly TopologyHint[] {
  let fewest = machine.length;
  const fitting: NumaMask[] = [];
  for (const nodes of allChoices(machine)) {
    const isOn = (device: PluginDevice): boolean => device.nodes.some((node) => nodes.includes(node));
    if (nodes.length < fewest && all.filter(isOn).length >= count) fewest = nodes.length;
    const placed = reusable.filter((device) => device.nodes.length > 0);
    if (!placed.every(isOn) || placed.length + available.filter(isOn).length < count) continue;
    fitting.push(numaMask(nodes));
  }
  return fitting.map((mask) => ({ nodes: mask, preferred: countNodes(mask) === fewest }));
}
