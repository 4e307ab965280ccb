import type { Device } from './api/deviceplugin_pb.js';
import type { PluginDevice } from './device-inventory.ts';

/** Kubernetes means no more than 63 (api.proto) and takes all. */
const MOST_ID_BYTES = 1024;
/** NUMA nodes that can be told apart. */
const LAST_NODE = 63n;

export interface ListedDevices {
  readonly devices: readonly PluginDevice[];
  /** Ids that no status can show: empty, longer than 1 KiB, or with control characters. Their devices are not there. */
  readonly refused: readonly string[];
  /** How much there was to look at. */
  readonly parts: number;
}

/** What a plugin lists, as far as it makes sense. Of devices with one id the last counts. */
export function listedDevices(listed: readonly Device[]): ListedDevices {
  const refused: string[] = [];
  const devices: PluginDevice[] = [];
  let parts = 0;
  for (const { ID: id, health, topology } of listed) {
    const nodes = topology?.nodes ?? [];
    parts += 1 + nodes.length;
    if (!isId(id)) refused.push(id);
    else {
      const known = nodes.filter(({ ID }) => ID >= 0n && ID <= LAST_NODE).map(({ ID }) => Number(ID));
      devices.push({ id, healthy: health === 'Healthy', nodes: [...new Set(known)] });
    }
  }
  return { devices, refused, parts };
}

const isId = (id: string): boolean =>
  id !== '' && id.length <= MOST_ID_BYTES && Buffer.byteLength(id) <= MOST_ID_BYTES && !/\p{Cc}/u.test(id);
