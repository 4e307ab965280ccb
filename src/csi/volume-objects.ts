import type { V1VolumeAttachment } from '@kubernetes/client-node';
import { filter, map } from 'rxjs';
import type { Clock } from '../base/clock.ts';
import { deadline } from '../base/deadline.ts';
import { firstOf } from '../base/first-of.ts';
import { isJsonObject } from '../base/json-object.ts';
import { isNotFound } from '../model/api-error.ts';
import { attachedVolume } from '../model/attached-volume.ts';
import { MountStepError } from '../model/mount-step-error.ts';
import type { Node } from '../model/node.ts';
import type { Pod } from '../model/pod.ts';
import type { Wire } from '../model/wire.ts';
import type { Cluster } from '../ports/cluster.ts';
import type { ReferencedObject } from '../ports/object-store.ts';
import type { ServiceAccountTokens } from '../ports/service-account-tokens.ts';
import type { CsiDriverObject, SecretRef, VolumePlan } from './volume-plan.ts';
import { attachmentName, uniqueVolumeName } from './volume-paths.ts';

export interface VolumeObjectsDeps {
  readonly cluster: Pick<Cluster, 'exists' | 'clients' | 'node' | 'nodeChanges'>;
  readonly nodeName: string;
  readonly tokens: Pick<ServiceAccountTokens, 'get'>;
  readonly clock: Pick<Clock, 'monotonicMs' | 'schedule'>;
}

/** A pod's step may take 5 minutes; after a wait as long the pod says what it waits for, and waits again. */
const ATTACH_MS = 100_000;
/** Kubernetes' default (pkg/apis/storage/v1 TokenRequest): an hour. */
const TOKEN_SECONDS = 3_600;
const TOKENS = 'csi.storage.k8s.io/serviceAccount.tokens';

/** What the cluster has to say about a CSI volume. Each is asked for when it is needed. */
export class VolumeObjects {
  readonly #deps: VolumeObjectsDeps;

  constructor(deps: VolumeObjectsDeps) {
    this.#deps = deps;
  }

  /** How a driver wants to be used; undefined: nobody has said. */
  async driver(name: string, signal: AbortSignal): Promise<CsiDriverObject | undefined> {
    const { cluster } = this.#deps;
    if (!cluster.exists) return undefined;
    try {
      return await cluster.clients.main.request<CsiDriverObject>(
        { method: 'GET', path: `/apis/storage.k8s.io/v1/csidrivers/${name}` },
        signal,
      );
    } catch (error) {
      if (isNotFound(error)) return undefined;
      throw error;
    }
  }

  /** The values of a secret, as the driver gets them. Never logged. */
  async secret(ref: SecretRef | undefined, signal: AbortSignal): Promise<Readonly<Record<string, string>>> {
    if (ref === undefined) return {};
    const path = `/api/v1/namespaces/${ref.namespace}/secrets/${ref.name}`;
    const { data = {} } = await this.#deps.cluster.clients.main.request<ReferencedObject>({ method: 'GET', path }, signal);
    return Object.fromEntries(Object.entries(data).map(([key, value]) => [key, Buffer.from(value, 'base64').toString()]));
  }

  /** Tokens of the pod's service account that the driver asked for (csi_mounter.go podServiceAccountTokenAttrs): as attributes, or among the secrets. */
  async tokens(
    pod: Pod,
    object: CsiDriverObject | undefined,
    signal: AbortSignal,
  ): Promise<{ readonly attributes: Readonly<Record<string, string>>; readonly secrets: Readonly<Record<string, string>> }> {
    const wanted = object?.spec.tokenRequests ?? [];
    if (wanted.length === 0) return { attributes: {}, secrets: {} };
    const outputs: Record<string, { readonly token: string; readonly expirationTimestamp: string }> = {};
    for (const { audience, expirationSeconds = TOKEN_SECONDS } of wanted) {
      const token = await this.#deps.tokens.get(pod, { audience, expirationSeconds }, signal);
      outputs[audience] = { token, expirationTimestamp: endOf(token) };
    }
    const made = { [TOKENS]: JSON.stringify(outputs) };
    return object?.spec.serviceAccountTokenInSecrets === true ? { attributes: {}, secrets: made } : { attributes: made, secrets: {} };
  }

  /**
   * Waits until the volume is attached to this node, and the node's status says that it is in use here, so that nobody detaches it. Resolves
   * with what the driver is to be told of the attachment.
   */
  async attached({ driver, handle }: VolumePlan, signal: AbortSignal): Promise<Readonly<Record<string, string>>> {
    const { cluster, clock, nodeName } = this.#deps;
    const name = uniqueVolumeName(driver, handle);
    const seen = (): MountStepError =>
      new MountStepError('WaitForAttach', attachFault(cluster.node(), name) ?? 'timed out waiting for the condition');
    using within = deadline(clock, ATTACH_MS, seen, signal);
    await firstOf(
      cluster.nodeChanges.pipe(
        map((node) => attachFault(node, name)),
        filter((fault) => fault === undefined),
      ),
      within.signal,
    );
    const path = `/apis/storage.k8s.io/v1/volumeattachments/${attachmentName(handle, driver, nodeName)}`;
    const { metadata, status } = await cluster.clients.main.request<Wire<V1VolumeAttachment>>({ method: 'GET', path }, signal);
    if (metadata?.deletionTimestamp !== undefined) throw new MountStepError('WaitForAttach', 'volume attachment is being deleted');
    if (status?.attached !== true)
      throw new MountStepError('WaitForAttach', status?.attachError?.message ?? 'volume attachment is not attached yet');
    return status.attachmentMetadata ?? {};
  }
}

function attachFault(node: Node | undefined, name: string): string | undefined {
  const found = attachedVolume(node, name);
  return 'fault' in found ? found.fault : undefined;
}

/** When the token ends, as it says itself; empty where it does not. */
function endOf(token: string): string {
  try {
    const claims: unknown = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString());
    const seconds = isJsonObject(claims) ? claims['exp'] : undefined;
    return typeof seconds === 'number' ? new Date(seconds * 1000).toISOString().replace('.000Z', 'Z') : '';
  } catch {
    return '';
  }
}
