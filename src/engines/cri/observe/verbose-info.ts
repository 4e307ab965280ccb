import { isJsonObject, type JsonObject } from '../../../base/json-object.ts';
import type { ObservedContainer } from '../../../ports/container-runtime.ts';
import type { OciResources } from '../containers/linux-resources.ts';

/** What containerd and CRI-O add to a verbose status; what is missing or of another form is left out. */
export interface VerboseInfo {
  /** As the first process began: of the specification of the container, which stays after its end. */
  readonly user?: NonNullable<ObservedContainer['user']>;
  readonly args?: readonly string[];
  readonly resources?: OciResources;
  /** What the runtime was asked for, in the words of CRI's own JSON (containerd alone). */
  readonly config?: JsonObject;
}

export function verboseInfo(info: Readonly<Record<string, string>>): VerboseInfo {
  const parsed = objectIn(info['info']);
  const { process, linux } = objectOf(parsed['runtimeSpec']);
  const { user, args } = objectOf(process);
  const found = userOf(objectOf(user));
  const { resources } = objectOf(linux);
  const { config } = parsed;
  return {
    ...(found && { user: found }),
    ...(isStrings(args) && { args }),
    // As `runc` writes and reads it; only numbers and texts of it are used.
    ...(isJsonObject(resources) && { resources: resourcesIn(resources) }),
    ...(isJsonObject(config) && { config }),
  };
}

function objectIn(text: string | undefined): JsonObject {
  try {
    return objectOf(JSON.parse(text ?? ''));
  } catch {
    return {};
  }
}

const objectOf = (value: unknown): JsonObject => (isJsonObject(value) ? value : {});
const isStrings = (value: unknown): value is readonly string[] => Array.isArray(value) && value.every((each) => typeof each === 'string');

function userOf({ uid, gid, additionalGids }: JsonObject): VerboseInfo['user'] {
  if (typeof uid !== 'number' || typeof gid !== 'number') return undefined;
  const groups = Array.isArray(additionalGids) ? additionalGids.filter((each) => typeof each === 'number') : [];
  return { uid, gid, ...(groups.length > 0 && { supplementalGroups: groups }) };
}

function resourcesIn({ cpu, memory }: JsonObject): OciResources {
  const { shares, quota, period, cpus, mems } = objectOf(cpu);
  const { limit } = objectOf(memory);
  return {
    cpu: {
      ...(typeof shares === 'number' && { shares }),
      ...(typeof quota === 'number' && { quota }),
      ...(typeof period === 'number' && { period }),
      ...(typeof cpus === 'string' && { cpus }),
      ...(typeof mems === 'string' && { mems }),
    },
    memory: { ...(typeof limit === 'number' && { limit }) },
  };
}
