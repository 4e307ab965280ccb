import { readdir } from 'node:fs/promises';
import { type CgroupDriver, parseCgroupPath } from '../model/cgroup-name.ts';
import type { OptionOrigins, KubeletOptions } from '../options/kubelet-options.ts';
import type { Engine } from '../ports/engine.ts';
import type { NodeParts } from '../ports/node-parts.ts';
import { openCgroupFs } from './cgroup-fs.ts';
import { CgroupManager } from './cgroup-manager.ts';
import type { HugePageSizes } from './cgroup-writes.ts';
import { systemdSlices } from './systemd-slices.ts';

export interface OpenCgroupsDeps extends Pick<NodeParts, 'clock' | 'log' | 'tell' | 'cgroups'> {
  readonly engine: Pick<Engine, 'features' | 'dataDirectory'>;
  readonly options: Pick<KubeletOptions, 'cgroupDriver' | 'cgroupRoot'>;
  readonly origins: Pick<OptionOrigins, 'cgroupDriver'>;
  /** "/sys/kernel/mm/hugepages" */
  readonly hugePages: string;
}

/** Why pods have no cgroups of their own here. */
export interface NoCgroups {
  readonly because: string;
}

/** What was configured cannot be: the agent does not start. */
export class CgroupSetupError extends Error {
  override readonly name = 'CgroupSetupError';
}

/**
 * The cgroups as the engine uses them. Undefined: it has none at all. Rejects with CgroupSetupError for options that contradict the engine or the
 * machine, and with the engine's error while it does not answer.
 */
export async function openCgroups(deps: OpenCgroupsDeps, signal: AbortSignal): Promise<CgroupManager | NoCgroups | undefined> {
  const { engine, cgroups, options, clock, tell } = deps;
  const ofEngine = (await engine.features(signal)).cgroups;
  if (ofEngine === undefined) return undefined;
  if ((await engine.dataDirectory(signal)) === undefined) return { because: 'the engine is not on this machine, or does not say so' };
  const { root, version } = cgroups;
  if (version === undefined) return { because: `there are no control groups in ${root}` };
  if (version !== ofEngine.version)
    return { because: `the engine uses cgroup v${ofEngine.version}, and ${root} is of v${version}: it is not the engine's` };
  const driver = driverOf(deps, ofEngine.driver);
  const manager = new CgroupManager({
    fs: await openCgroupFs(root, version),
    driver,
    slices: driver === 'systemd' ? systemdSlices(clock) : undefined,
    hugePageSizes: await hugePageSizes(deps.hugePages),
    clock,
    tell,
  });
  const own = parseCgroupPath(options.cgroupRoot, 'cgroupfs');
  if ((await manager.identity(own)) !== undefined) return manager;
  if (own.length === 0) return { because: `there are no control groups in ${root}` };
  const given = JSON.stringify(options.cgroupRoot);
  throw new CgroupSetupError(`invalid configuration: cgroup-root ${given} doesn't exist: make it, or leave the option out`);
}

/** As dockershim compared them; the config file of kubeadm says systemd without having asked (feature KubeletCgroupDriverFromCRI). */
function driverOf({ options, origins, log }: OpenCgroupsDeps, ofEngine: CgroupDriver): CgroupDriver {
  const { cgroupDriver: given } = options;
  if (origins.cgroupDriver === 'default' || given === ofEngine) return ofEngine;
  const differ = `kubelet cgroup driver: ${JSON.stringify(given)} is different from docker cgroup driver: ${JSON.stringify(ofEngine)}`;
  if (origins.cgroupDriver === 'flag') throw new CgroupSetupError(`misconfiguration: ${differ}; leave --cgroup-driver out`);
  log.warn("the engine's cgroup driver is used, not that of the config file", { configured: given, engine: ofEngine });
  return ofEngine;
}

/** Of the directories that the kernel has for them: "hugepages-2048kB". */
async function hugePageSizes(directory: string): Promise<HugePageSizes> {
  const sizes = new Map<number, string>();
  for (const name of await readdir(directory).catch((): string[] => [])) {
    const kib = Number(/^hugepages-(\d+)kB$/.exec(name)?.[1]);
    if (!(kib > 0)) continue;
    const unit = kib >= 1 << 20 ? `${kib >> 20}GB` : kib >= 1 << 10 ? `${kib >> 10}MB` : `${kib}KB`;
    sizes.set(kib * 1024, unit);
  }
  return sizes;
}
