import { isJsonObject, type JsonObject } from '../../../base/json-object.ts';
import { LruMap } from '../../../base/lru-map.ts';
import type { Pod } from '../../../model/pod.ts';
import type { SandboxSpec } from '../../../ports/container-runtime.ts';
import { podLogDirectory } from '../../common/logs/log-paths.ts';
import { RuntimeService } from '../api/runtime_pb.js';
import type { CriClient } from '../client/cri-client.ts';
import { idsOf } from '../containers/user-namespace.ts';
import { verboseInfo } from '../observe/verbose-info.ts';
import { rememberedConfig, type SandboxConfig } from './sandbox-config.ts';

/** Twice the pods of a full node. */
const MAX_REMEMBERED = 1000;

/** What sandboxes were made from: CRI wants it again with each container. Of those that were made before this agent started it is made up again. */
export class SandboxConfigs {
  readonly #client: Pick<CriClient, 'call'>;
  readonly #podLogsDir: string;
  readonly #known = new LruMap<string, SandboxConfig>(MAX_REMEMBERED);

  constructor(client: Pick<CriClient, 'call'>, podLogsDir: string) {
    this.#client = client;
    this.#podLogsDir = podLogsDir;
  }

  remember(id: string, config: SandboxConfig): void {
    this.#known.set(id, config);
  }

  forget(id: string): void {
    this.#known.delete(id);
  }

  /** Rejects when there is no such sandbox. */
  async of(podSandboxId: string, pod: Pod, cgroupParent: string | undefined, signal: AbortSignal): Promise<SandboxConfig> {
    const known = this.#known.get(podSandboxId);
    if (known !== undefined) return known;
    const { podSandboxStatus } = RuntimeService.method;
    const { status, info } = await this.#client.call(podSandboxStatus, { podSandboxId, verbose: true }, signal);
    const attempt = status?.metadata?.attempt ?? 0;
    const users = idsOf(status?.linux?.namespaces?.options?.usernsOptions);
    const spec = { attempt, cgroupParent, userNamespace: users, ...toldByRuntime(verboseInfo(info).config) };
    const config = rememberedConfig(pod, spec, podLogDirectory(this.#podLogsDir, pod));
    this.#known.set(podSandboxId, config);
    return config;
  }
}

/** What does not follow from the pod alone. containerd tells all that it was asked for; of others it is not known. */
function toldByRuntime(config: JsonObject = {}): Pick<SandboxSpec, 'hostname' | 'dns'> {
  const { hostname, dns_config: dns } = config;
  return {
    hostname: typeof hostname === 'string' ? hostname : undefined,
    ...(isJsonObject(dns) && { dns: { servers: texts(dns['servers']), searches: texts(dns['searches']), options: texts(dns['options']) } }),
  };
}

const texts = (value: unknown): readonly string[] => (Array.isArray(value) ? value.filter((each) => typeof each === 'string') : []);
