import { isJsonObject } from '../../../base/json-object.ts';
import type { EngineFeatures } from '../../../ports/engine-features.ts';
import type { EngineClient } from '../client/engine-client.ts';

/** What the engine can do, with its handlers: its default under no name, and all under their own. */
export async function engineFeatures(client: EngineClient, signal: AbortSignal): Promise<EngineFeatures> {
  const info: unknown = await client.call('GET /info', client.requestTimeoutMs, signal, (docker) => docker.info());
  const runtimes = isJsonObject(info) && isJsonObject(info['Runtimes']) ? Object.keys(info['Runtimes']) : [];
  const can = { recursiveReadOnly: false, userNamespaces: false };
  // A container's supplemental groups are those of its image's /etc/group, and those given.
  return { handlers: ['', ...runtimes.toSorted()].map((name) => ({ name, ...can })), supplementalGroupsPolicy: false };
}
