import { release } from 'node:os';
import type { Clock } from '../base/clock.ts';
import type { Live } from '../base/live.ts';
import type { Logger } from '../base/logger.ts';
import { Quantity } from '../model/quantity.ts';
import type { LiveOptions } from '../options/kubelet-options.ts';
import type { EngineFeatures } from '../ports/engine-features.ts';
import type { NodeResources } from '../ports/this-node.ts';
import type { NodeFacts } from './compose-node-status.ts';
import { readDefaultRouteAddresses, readInterfaces, readLocalAddresses, resolveName } from './host-addresses.ts';
import { type IpAddress, isUnspecified, nodeIpFault, parseIp } from './ip-address.ts';
import { lastKnown } from './last-known.ts';
import { type MachinePaths, readFileSystemBytes, readMachineFacts, readOsImage } from '../base/machine-facts.ts';
import type { GivenCondition, NodeErrors } from './node-conditions.ts';
import type { NodeImage } from './node-images.ts';

export interface NodeFactsDeps {
  readonly clock: Clock;
  readonly log: Logger;
  readonly settings: {
    readonly nodeName: string;
    /** The name's override, or the machine's own. */
    readonly hostname: string;
    readonly nodeIps: readonly IpAddress[];
    readonly externalCloudProvider: boolean;
    /** Its file system is the node's ephemeral storage. */
    readonly rootDir: string;
    readonly kubeletPort: number;
    /** This agent's own version. */
    readonly release: string;
    readonly arch: string;
    /** Undefined: nodes declare nothing. */
    readonly declaredFeatures: readonly string[] | undefined;
    /** Whether local storage is a resource that pods may ask for. */
    readonly localStorage: boolean;
  };
  readonly live: Live<Pick<LiveOptions, 'maxPods' | 'podsPerCore' | 'nodeStatusMaxImages'>>;
  readonly resources: Pick<NodeResources, 'reserved' | 'provided'>;
  /** The engine's. May be slow and may reject: the last answer serves meanwhile. */
  readonly images: (signal: AbortSignal) => Promise<readonly NodeImage[]>;
  /** "docker://20.10.24". As slow as it likes, too. */
  readonly containerRuntimeVersion: (signal: AbortSignal) => Promise<string>;
  /** What the engine can do. As slow, too. */
  readonly engineFeatures: (signal: AbortSignal) => Promise<EngineFeatures>;
  /** Why the node is not ready, now. */
  readonly errors: () => NodeErrors;
  /** Besides Ready, and the pressures of which nothing is known. */
  readonly conditions: () => readonly GivenCondition[];
  /** Undefined: not known yet, those reported stay. */
  readonly volumesInUse?: () => readonly string[] | undefined;
  readonly paths?: MachinePaths;
}

/** As often as the kubelet asks again: cadvisor for the machine, the image manager for images. */
const MACHINE_MAX_AGE_MS = 5 * 60_000;
const IMAGES_MAX_AGE_MS = 30_000;
/** Of a node's first status, which is to be there within two seconds of the start. */
const WAIT_MS = 500;

/** Reads the facts that make up the node's status, each time it is called; what is slow to say is taken from the last answer. */
export function collectNodeFacts(deps: NodeFactsDeps): (signal: AbortSignal) => Promise<NodeFacts> {
  const { clock, log, settings, live, paths = { root: '/' } } = deps;
  const fact = <T>(what: string, maxAgeMs: number, read: (signal: AbortSignal) => Promise<T>) =>
    lastKnown({
      read,
      clock,
      maxAgeMs,
      waitMs: WAIT_MS,
      onError: (error) => log.v(2, 'a fact of the node not read', { what, error }),
    });
  const machine = fact('machine', MACHINE_MAX_AGE_MS, () => readMachineFacts(paths));
  const osImage = fact('operating system', MACHINE_MAX_AGE_MS, () => readOsImage(paths));
  const storage = fact('ephemeral storage', MACHINE_MAX_AGE_MS, () => readFileSystemBytes(settings.rootDir));
  const runtimeVersion = fact('container runtime', MACHINE_MAX_AGE_MS, deps.containerRuntimeVersion);
  const engineFeatures = fact('container runtime features', MACHINE_MAX_AGE_MS, deps.engineFeatures);
  const images = fact('images', IMAGES_MAX_AGE_MS, deps.images);
  const addressesByName = fact('name', MACHINE_MAX_AGE_MS, () => resolveName(settings.nodeName));
  // A resolver may take its time, and is asked only where its word counts.
  const given = settings.nodeIps.some((ip) => !isUnspecified(ip)) || parseIp(settings.hostname) !== undefined;

  return async (signal) => {
    const interfaces = readInterfaces();
    const hostAddresses = [...Object.values(interfaces).flat(), ...(await readLocalAddresses(paths))];
    const [known, os, bytes, runtime, features, list, byName, byDefaultRoute] = await Promise.all([
      machine(signal),
      osImage(signal),
      storage(signal),
      runtimeVersion(signal),
      engineFeatures(signal),
      images(signal),
      given ? undefined : addressesByName(signal),
      given ? [] : readDefaultRouteAddresses(paths, interfaces),
    ]);
    return {
      nowMs: clock.now(),
      addresses: { ...settings, byName: byName ?? [], byDefaultRoute, fault: (ip) => nodeIpFault(ip, hostAddresses) },
      machine: known,
      maxPods: live.now.maxPods,
      podsPerCore: live.now.podsPerCore,
      capacity: bytes === undefined || !settings.localStorage ? {} : { 'ephemeral-storage': Quantity.of(bytes, 'BinarySI').canonical() },
      reservation: deps.resources.reserved(),
      devices: { ...deps.resources.provided(), removed: [] },
      versions: {
        kernelVersion: release(),
        osImage: os ?? 'Unknown',
        containerRuntimeVersion: runtime,
        release: settings.release,
        arch: settings.arch,
      },
      engineFeatures: features,
      declaredFeatures: settings.declaredFeatures,
      kubeletPort: settings.kubeletPort,
      images: list,
      nodeStatusMaxImages: live.now.nodeStatusMaxImages,
      conditions: deps.conditions(),
      readiness: { errors: deps.errors(), localStorage: settings.localStorage },
      volumesInUse: deps.volumesInUse?.(),
    };
  };
}
