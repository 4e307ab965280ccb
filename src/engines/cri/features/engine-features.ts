import { isGrpcError } from '../../../base/grpc/grpc-error.ts';
import { isJsonObject, type JsonObject } from '../../../base/json-object.ts';
import type { EngineCgroups, EngineFeatures, EngineHandler } from '../../../ports/engine-features.ts';
import { CgroupDriver, RuntimeService, type StatusResponse } from '../api/runtime_pb.js';
import type { CriClient } from '../client/cri-client.ts';

/** Besides what the Node shows. */
export interface CriFeatures extends EngineFeatures {
  /** Of all sandboxes, where the runtime says so: it is kept. */
  readonly sandboxImage: string | undefined;
  /** Where it keeps what it downloads, if it does not itself give up a pull that makes no progress: containerd of before 1.7. */
  readonly unwatchedPullsIn: string | undefined;
  /** A container can have devices by their CDI names: containerd of before 1.7 passes over them. */
  readonly cdi: boolean;
  /** A container can have a part of an image mounted: others mount all of it. */
  readonly imageSubPaths: boolean;
}

export interface FeaturesDeps {
  readonly client: Pick<CriClient, 'call'>;
  /** Of this machine, where a runtime on a socket runs its containers; undefined: there are none. */
  readonly cgroupVersion: EngineCgroups['version'] | undefined;
  /** Taken where the runtime does not say, as a kubelet does (feature KubeletCgroupDriverFromCRI). */
  readonly cgroupDriver: EngineCgroups['driver'];
}

/** From these on a container can have images mounted: CRI itself does not say it. */
const IMAGE_VOLUMES: Readonly<Record<string, readonly [major: number, minor: number]>> = { containerd: [2, 1], 'cri-o': [1, 31] };
/** From these on a part of one, too. */
const IMAGE_SUB_PATHS: typeof IMAGE_VOLUMES = { containerd: [2, 2], 'cri-o': [1, 33] };
/** From this on a pull that makes no progress is given up by containerd itself. */
const WATCHES_PULLS = [1, 7] as const;
const KNOWS_CDI = [1, 7] as const;
/** A runtime that lists more is not believed. */
const MAX_HANDLERS = 1000;

/** What the runtime can do, by three calls. Rejects with the error of the first that fails. */
export async function engineFeatures({ client, cgroupVersion, cgroupDriver }: FeaturesDeps, signal: AbortSignal): Promise<CriFeatures> {
  const { version, status } = RuntimeService.method;
  const [{ runtimeName, runtimeVersion }, told, driver] = await Promise.all([
    client.call(version, { version: 'v1' }, signal),
    client.call(status, { verbose: true }, signal),
    driverOf(client, signal),
  ]);
  const config = configIn(told);
  return {
    handlers: handlersOf(told, config),
    supplementalGroupsPolicy: told.features?.supplementalGroupsPolicy ?? false,
    idsForEachPod: true,
    imageVolumes: isAtLeast(runtimeVersion, IMAGE_VOLUMES[runtimeName]) ? 'often' : 'never',
    cgroups: cgroupVersion && { driver: driver ?? config.driver ?? cgroupDriver, version: cgroupVersion },
    sandboxImage: config.sandboxImage,
    unwatchedPullsIn: runtimeName === 'containerd' && !isAtLeast(runtimeVersion, WATCHES_PULLS) ? config.rootDir : undefined,
    cdi: runtimeName !== 'containerd' || isAtLeast(runtimeVersion, KNOWS_CDI),
    imageSubPaths: isAtLeast(runtimeVersion, IMAGE_SUB_PATHS[runtimeName]),
  };
}

/** Undefined: a runtime of before RuntimeConfig, or one that says nothing in it. */
async function driverOf(client: FeaturesDeps['client'], signal: AbortSignal): Promise<EngineCgroups['driver'] | undefined> {
  try {
    const { linux } = await client.call(RuntimeService.method.runtimeConfig, {}, signal);
    return linux && (linux.cgroupDriver === CgroupDriver.SYSTEMD ? 'systemd' : 'cgroupfs');
  } catch (error) {
    if (isGrpcError(error, 'Unimplemented')) return undefined;
    throw error;
  }
}

/** The default first. Runtimes of before handlers were in the status can do nothing for them that not all can. */
function handlersOf({ runtimeHandlers }: StatusResponse, { handlers }: Config): readonly EngineHandler[] {
  const told = runtimeHandlers.slice(0, MAX_HANDLERS).map(({ name, features }) => ({
    name,
    recursiveReadOnly: features?.recursiveReadOnlyMounts ?? false,
    userNamespaces: features?.userNamespaces ?? false,
  }));
  const names = told.length > 0 ? [] : handlers.slice(0, MAX_HANDLERS);
  const all = [...told, ...names.map((name) => ({ name, recursiveReadOnly: false, userNamespaces: false }))];
  const byDefault = all.find(({ name }) => name === '') ?? { name: '', recursiveReadOnly: false, userNamespaces: false };
  return [byDefault, ...all.filter(({ name }) => name !== '').toSorted((a, b) => (a.name < b.name ? -1 : 1))];
}

interface Config {
  readonly handlers: readonly string[];
  readonly driver: EngineCgroups['driver'] | undefined;
  readonly sandboxImage: string | undefined;
  readonly rootDir: string | undefined;
}

/** What containerd adds to a verbose status: its configuration, as JSON. Others, and others of its versions, may add something else. */
function configIn({ info }: StatusResponse): Config {
  const config = parsed(info['config']);
  const { defaultRuntimeName, runtimes } = objectOf(config['containerd']);
  const byName = objectOf(runtimes);
  const systemd = objectOf(objectOf(byName[String(defaultRuntimeName)])['options'])['SystemdCgroup'];
  return {
    handlers: Object.keys(byName),
    driver: typeof systemd === 'boolean' ? (systemd ? 'systemd' : 'cgroupfs') : undefined,
    sandboxImage: textOf(config['sandboxImage']),
    rootDir: textOf(config['containerdRootDir']),
  };
}

function parsed(text: string | undefined): JsonObject {
  try {
    return objectOf(JSON.parse(text ?? ''));
  } catch {
    return {};
  }
}

const textOf = (value: unknown): string | undefined => (typeof value === 'string' && value !== '' ? value : undefined);
const objectOf = (value: unknown): JsonObject => (isJsonObject(value) ? value : {});

/** "2.1.9", "v1.6.20~ds1", "1.31.0-dev". */
function isAtLeast(version: string, wanted: readonly [major: number, minor: number] | undefined): boolean {
  const found = /^v?(\d+)\.(\d+)/.exec(version);
  if (!found || wanted === undefined) return false;
  const [major, minor] = [Number(found[1]), Number(found[2])];
  return major > wanted[0] || (major === wanted[0] && minor >= wanted[1]);
}
