import { isJsonObject, type JsonObject } from '../../../base/json-object.ts';
import type { EngineFeatures } from '../../../ports/engine-features.ts';
import type { EngineClient } from '../client/engine-client.ts';

/** Besides what the Node shows. */
export interface DockerFeatures extends EngineFeatures {
  /** A mount that is read-only is so with all that is mounted below it, unless it is asked for otherwise: engines since 25. */
  readonly asksForOneMount: boolean;
  /** A container can have devices by their CDI names. */
  readonly cdi: boolean;
  /** It is an ordinary user's, and so are its containers. */
  readonly rootless: boolean;
  /** "json-file"; empty where it does not say. */
  readonly loggingDriver: string;
}

/** From these on: of the engine BindOptions.ReadOnlyForceRecursive, of Linux mount_setattr(2). */
const RECURSIVE_ENGINE = [25, 0] as const;
const RECURSIVE_KERNEL = [5, 12] as const;
/** From this on there are mounts of type image (API 1.48). */
const IMAGES_ENGINE = [28, 0] as const;

/** From this on it names where it looks for CDI's files, unless CDI is switched off. */
const CDI_ENGINE = [28, 0] as const;

/** What the engine can do, with its handlers: its default under no name, and all under their own. */
export async function engineFeatures(client: EngineClient, signal: AbortSignal): Promise<DockerFeatures> {
  const info = await client.about('info', signal);
  const { logs, takesHandlers } = await client.dialect(signal);
  const runtimes = isJsonObject(info['Runtimes']) ? info['Runtimes'] : {};
  const asksForOneMount = isAtLeast(info['ServerVersion'], RECURSIVE_ENGINE);
  const userNamespaces = hasSecurityOption(info, 'userns');
  const recursive = asksForOneMount && isAtLeast(info['KernelVersion'], RECURSIVE_KERNEL);
  const handler = (name: string, runtime: unknown): EngineFeatures['handlers'][number] => ({
    name,
    recursiveReadOnly: recursive && mountOptionsOf(runtime)?.includes('rro') !== false,
    userNamespaces,
  });
  const listed = Object.entries(runtimes).toSorted(([a], [b]) => (a < b ? -1 : 1));
  const byName = takesHandlers ? listed : listed.filter(([name]) => name === info['DefaultRuntime']);
  return {
    handlers: [handler('', runtimes[String(info['DefaultRuntime'])]), ...byName.map(([name, runtime]) => handler(name, runtime))],
    // A user who is given with a group has no others of the image's.
    supplementalGroupsPolicy: true,
    imageVolumes: isAtLeast(info['ServerVersion'], IMAGES_ENGINE) ? 'once' : 'never',
    cdi: isAtLeast(info['ServerVersion'], CDI_ENGINE) && Array.isArray(info['CDISpecDirs']) && info['CDISpecDirs'].length > 0,
    asksForOneMount,
    rootless: hasSecurityOption(info, 'rootless'),
    cgroups: cgroupsOf(info),
    loggingDriver: logs.driver ?? (typeof info['LoggingDriver'] === 'string' ? info['LoggingDriver'] : ''),
  };
}

/** An engine of before 20.10 knows no version but the first. One without root may have no driver at all. */
function cgroupsOf({ CgroupDriver: driver, CgroupVersion: version }: JsonObject): EngineFeatures['cgroups'] {
  if (driver !== 'cgroupfs' && driver !== 'systemd') return undefined;
  return { driver, version: version === '2' ? 2 : 1 };
}

/** "28.5.2+dfsg4", "6.18.44-fc-v669". */
function isAtLeast(version: unknown, [major, minor]: readonly [number, number]): boolean {
  const found = typeof version === 'string' ? /^(\d+)\.(\d+)/.exec(version) : null;
  if (!found) return false;
  const [ofMajor, ofMinor] = [Number(found[1]), Number(found[2])];
  return ofMajor > major || (ofMajor === major && ofMinor >= minor);
}

/** As "name=userns". */
function hasSecurityOption({ SecurityOptions }: JsonObject, name: string): boolean {
  return (
    Array.isArray(SecurityOptions) &&
    SecurityOptions.some((option) => typeof option === 'string' && option.split(',').includes(`name=${name}`))
  );
}

/** What a runtime says of itself by `features` of the OCI runtime specification; undefined where it or the engine says nothing. */
function mountOptionsOf(runtime: unknown): readonly unknown[] | undefined {
  const status = isJsonObject(runtime) ? runtime['status'] : undefined;
  const text = isJsonObject(status) ? status['org.opencontainers.runtime-spec.features'] : undefined;
  if (typeof text !== 'string') return undefined;
  try {
    const said: unknown = JSON.parse(text);
    return isJsonObject(said) && Array.isArray(said['mountOptions']) ? said['mountOptions'] : undefined;
  } catch {
    return undefined;
  }
}
