import {
  cgroupBelow,
  cgroupPath,
  type CgroupDriver,
  isSystemdStyle,
  parseCgroupPath,
  podCgroup,
  podPart,
  podsCgroup,
  systemdUnit,
  uidOfCgroup,
} from '../../../src/model/cgroup-name.ts';
import type { Pod } from '../../../src/model/pod.ts';

export type Input =
  | { readonly op: 'strings' | 'names'; readonly components: readonly string[] }
  | { readonly op: 'new'; readonly base: readonly string[]; readonly components: readonly string[] }
  | { readonly op: 'parseSystemd' | 'parseCgroupfs' | 'isSystemdStyle'; readonly name: string }
  | {
      readonly op: 'nodeAllocatableRoot';
      readonly cgroupRoot: string;
      readonly cgroupsPerQOS: boolean;
      readonly driver: CgroupDriver;
    }
  | { readonly op: 'pod'; readonly pod: Pod; readonly cgroupRoot: string; readonly driver: CgroupDriver }
  | { readonly op: 'isPodCgroup'; readonly cgroup: string; readonly cgroupRoot: string; readonly driver: CgroupDriver }
  | { readonly op: 'podSuffix'; readonly uid: string }
  | { readonly op: 'podSuffix'; readonly name: string };

export function run(input: Input): unknown {
  switch (input.op) {
    case 'strings':
    case 'names': {
      const { parent, unit } = systemdUnit(input.components);
      return {
        cgroupfs: cgroupPath(input.components, 'cgroupfs'),
        systemd: cgroupPath(input.components, 'systemd'),
        systemdParent: parent,
        systemdName: unit,
      };
    }
    case 'new':
      return orPanic(() => cgroupBelow(input.base, ...input.components));
    case 'parseSystemd':
      return parseCgroupPath(input.name, 'systemd');
    case 'parseCgroupfs':
      return parseCgroupPath(input.name, 'cgroupfs');
    case 'isSystemdStyle':
      return isSystemdStyle(input.name);
    case 'nodeAllocatableRoot':
      return cgroupPath(podsCgroup(input.cgroupRoot, input.cgroupsPerQOS), input.driver);
    case 'pod':
      return orPanic(() => {
        const components = podCgroup(podsCgroup(input.cgroupRoot, true), input.pod);
        const cgroup = cgroupPath(components, input.driver);
        return { components, cgroup, base: cgroup.split('/').at(-1) };
      });
    case 'isPodCgroup': {
      const uid = uidOfCgroup(podsCgroup(input.cgroupRoot, true), input.cgroup, input.driver);
      return { isPod: uid !== undefined, uid: uid ?? '' };
    }
    case 'podSuffix':
      return podPart('uid' in input ? input.uid : input.name);
    default:
      return input satisfies never;
  }
}

function orPanic<T>(make: () => T): T | { readonly panic: string } {
  try {
    return make();
  } catch (error) {
    return { panic: (error as Error).message };
  }
}
