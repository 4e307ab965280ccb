import { nodesOf, type NumaMask } from '../model/numa-mask.ts';
import { NO_NODE } from './device-allocations.ts';
import type { PluginDevice } from './device-inventory.ts';

export interface DeviceChoice {
  readonly resource: string;
  readonly required: number;
  /** Of init containers of the same pod that will have ended: taken first. */
  readonly reusable: ReadonlySet<string>;
  /** Healthy, and nobody's. */
  readonly available: readonly PluginDevice[];
  /** From these NUMA nodes first; undefined: it does not matter. */
  readonly near: NumaMask | undefined;
  /** Which of the available ones the plugin would rather give, these included; undefined: it has no opinion. */
  readonly prefer: (available: readonly string[], included: readonly string[], size: number) => Promise<readonly string[] | undefined>;
}

/**
 * The devices for one container, in the order in which they are listed where nothing else decides (devicesToAllocate in
 * pkg/kubelet/cm/devicemanager). Rejects in its words where there are not enough.
 */
export async function chooseDevices(choice: DeviceChoice): Promise<ReadonlySet<string>> {
  const { resource, required, reusable, available, prefer } = choice;
  const chosen = new Set<string>();
  const take = (ids: Iterable<string>): boolean => {
    for (const id of ids) {
      if (chosen.size === required) break;
      chosen.add(id);
    }
    return chosen.size === required;
  };
  if (take(reusable)) return chosen;
  const needed = required - chosen.size;
  if (available.length < needed)
    throw new Error(`requested number of devices unavailable for ${resource}. Requested: ${needed}, Available: ${available.length}`);
  const { near, far, anywhere } = byPlace(available, choice.near);
  const preferredOf = async (ids: readonly string[]): Promise<readonly string[]> => {
    const offered = new Set(ids);
    const preferred = await prefer([...chosen.union(offered)], [...chosen], required);
    // A plugin may name what it was not offered.
    return (preferred ?? []).filter((id) => offered.has(id));
  };
  if (needed < near.length) {
    if (take(await preferredOf(near)) || take(near)) return chosen;
  } else {
    if (take(near)) return chosen;
    const ids = available.map(({ id }) => id);
    if (take(await preferredOf(ids)) || take(far) || take(anywhere)) return chosen;
  }
  throw new Error(`unexpectedly allocated less resources than required. Requested: ${required}, Got: ${chosen.size}`);
}

interface Places {
  readonly near: readonly string[];
  readonly far: readonly string[];
  /** Attached to no node, or nothing is said of places. */
  readonly anywhere: readonly string[];
}

/**
 * Each device under the first of its nodes that counts: those of the hint before others, and of these the ones with fewer devices (filterByAffinity
 * there).
 */
function byPlace(available: readonly PluginDevice[], mask: NumaMask | undefined): Places {
  const all = available.map(({ id }) => id);
  if (mask === undefined) return { near: [], far: [], anywhere: all };
  const wanted = new Set(nodesOf(mask));
  const near = available.filter(({ nodes }) => nodes.some((node) => wanted.has(node)));
  const anywhere = available.filter(({ nodes }) => nodes.length === 0);
  const far = available.filter(({ nodes }) => nodes.length > 0 && !nodes.some((node) => wanted.has(node)));
  const crowded = new Map<number, number>();
  for (const { nodes } of available) for (const node of nodes) crowded.set(node, (crowded.get(node) ?? 0) + 1);
  const crowd = ({ nodes }: PluginDevice): number => Math.min(...nodes.map((node) => crowded.get(node) ?? 0));
  const ids = (devices: readonly PluginDevice[]): readonly string[] => devices.map(({ id }) => id);
  return {
    near: ids(near.toSorted((a, b) => crowd(a) - crowd(b))),
    far: ids(far.toSorted((a, b) => crowd(a) - crowd(b))),
    anywhere: ids(anywhere),
  };
}

/** The devices by the nodes that they are attached to. */
export function byNode(devices: readonly PluginDevice[]): ReadonlyMap<number, readonly string[]> {
  const found = new Map<number, string[]>();
  for (const { id, nodes } of devices)
    for (const node of nodes.length === 0 ? [NO_NODE] : nodes) {
      const there = found.get(node);
      if (there) there.push(id);
      else found.set(node, [id]);
    }
  return found;
}
