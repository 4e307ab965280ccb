import type { V1ProjectedVolumeSource, V1VolumeProjection } from '@kubernetes/client-node';
import type { Pod } from '../model/pod.ts';
import type { Wire } from '../model/wire.ts';
import { configMapPayload } from './config-map-volume.ts';
import { downwardApiPayload } from './downward-api-volume.ts';
import { DEFAULT_MODE, type PayloadFacts, type PayloadFile, type PayloadOf, throwAll } from './payload.ts';
import { secretPayload } from './secret-volume.ts';

/** Kubernetes' default for expirationSeconds. */
const TOKEN_SECONDS = 3_600;
/** A token for one user or group is readable by no other. */
const OWNED_TOKEN_MODE = 0o600;

/** Several sources in one directory, later ones over earlier ones (pkg/volume/projected collectData). */
export const projectedPayload: PayloadOf<Wire<V1ProjectedVolumeSource>> = async ({ sources, defaultMode }, pod, facts, signal) => {
  const errors: unknown[] = [];
  const files = new Map<string, PayloadFile>();
  for (const source of sources ?? []) {
    try {
      const projected = await sourceFiles(source, defaultMode ?? DEFAULT_MODE, pod, facts, signal);
      for (const file of projected) files.set(file.path, file);
    } catch (error) {
      signal.throwIfAborted();
      errors.push(error);
    }
  }
  throwAll(errors);
  return [...files.values()];
};

async function sourceFiles(
  projection: Wire<V1VolumeProjection>,
  defaultMode: number,
  pod: Pod,
  facts: PayloadFacts,
  signal: AbortSignal,
): Promise<readonly PayloadFile[]> {
  const { secret, configMap, downwardAPI, serviceAccountToken } = projection;
  if (secret) {
    const { name, ...rest } = secret;
    return secretPayload({ ...rest, ...(name !== undefined && { secretName: name }), defaultMode }, pod, facts, signal);
  }
  if (configMap) return configMapPayload({ ...configMap, defaultMode }, pod, facts, signal);
  if (downwardAPI) return downwardApiPayload({ ...downwardAPI, defaultMode }, pod, facts);
  if (!serviceAccountToken) {
    const [kind] = Object.keys(projection);
    if (kind === undefined) return [];
    throw new Error(`projected source ${kind} is not supported by this node`);
  }
  const { path, audience = '', expirationSeconds = TOKEN_SECONDS } = serviceAccountToken;
  const token = await facts.tokens.get(pod, { audience, expirationSeconds }, signal);
  const uid = onlyUser(pod);
  const owned = uid !== undefined || pod.spec.securityContext?.fsGroup !== undefined;
  return [{ path, data: Buffer.from(token), mode: owned ? OWNED_TOKEN_MODE : defaultMode, ...(uid !== undefined && { uid }) }];
}

/** The user that all containers run as, where they say so (pkg/volume/util FsUserFrom). */
function onlyUser({ spec }: Pod): number | undefined {
  const containers = [...(spec.initContainers ?? []), ...spec.containers];
  const users = new Set(containers.map(({ securityContext }) => securityContext?.runAsUser ?? spec.securityContext?.runAsUser));
  return users.size === 1 ? [...users][0] : undefined;
}
