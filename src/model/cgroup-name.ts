import type { Pod, PodUid } from './pod.ts';
import { podQosClass, type QosClass } from './qos.ts';

/** A cgroup from the hierarchy's root, a part for each level; none is the root (pkg/kubelet/cm CgroupName). */
export type CgroupName = readonly string[];

/** Who names the cgroups of a node: the file system, or systemd, whose slices say in their own names which slices they lie in. */
export type CgroupDriver = 'cgroupfs' | 'systemd';

const SLICE = '.slice';
const POD = 'pod';
const NODE_ALLOCATABLE = 'kubepods';

/** A cgroup below another. Throws where a part has a character that one of the drivers gives a meaning (NewCgroupName). */
export function cgroupBelow(base: CgroupName, ...parts: readonly string[]): CgroupName {
  for (const part of parts)
    if (/[/_]/.test(part)) throw new Error(`invalid character in component [${JSON.stringify(part)}] of CgroupName`);
  return [...base, ...parts];
}

/** The path below the hierarchy's root: "/kubepods/burstable", or "/kubepods.slice/kubepods-burstable.slice". */
export function cgroupPath(name: CgroupName, driver: CgroupDriver): string {
  if (driver === 'cgroupfs') return `/${name.join('/')}`;
  if (name.length === 0 || (name.length === 1 && name[0] === '')) return '/';
  return `/${name.map((_, depth) => sliceOf(name.slice(0, depth + 1))).join('/')}`;
}

/** "kubepods-burstable.slice". A dash divides levels, so one that is part of a name is written as an underscore. */
function sliceOf(name: CgroupName): string {
  return `${name.map((part) => part.replaceAll('-', '_')).join('-')}${SLICE}`;
}

/** What systemd needs of a slice: its unit, and the slice that it lies in. */
export function systemdUnit(name: CgroupName): { readonly parent: string; readonly unit: string } {
  const parts = cgroupPath(name, 'systemd').split('/').slice(1);
  return { parent: parts.at(-2) ?? `-${SLICE}`, unit: parts.at(-1) ?? '' };
}

/** A path that the options or the kernel say, as a name. Of systemd's the last part tells all (ParseSystemdToCgroupName). */
export function parseCgroupPath(path: string, driver: CgroupDriver): CgroupName {
  if (driver === 'cgroupfs') {
    const parts = path.replace(/^\//, '').split('/');
    return parts.length === 1 && parts[0] === '' ? [] : parts;
  }
  const last = path.replace(/\/+$/, '').split('/').at(-1) ?? '';
  const unit = last === '' ? (path === '' ? '.' : '/') : last;
  return (unit.endsWith(SLICE) ? unit.slice(0, -SLICE.length) : unit).split('-').map((part) => part.replaceAll('_', '-'));
}

export const isSystemdStyle = (path: string): boolean => path.endsWith(SLICE);

/** The cgroup that all pods are in. `cgroupRoot` is a path of the file system with either driver (NodeAllocatableRoot). */
export function podsCgroup(cgroupRoot: string, cgroupsPerQos: boolean): CgroupName {
  const root = parseCgroupPath(cgroupRoot, 'cgroupfs');
  return cgroupsPerQos ? cgroupBelow(root, NODE_ALLOCATABLE) : root;
}

/** The cgroup that pods of a class are in; `pods` is that of all. */
export function qosCgroup(pods: CgroupName, qos: QosClass): CgroupName {
  return qos === 'Guaranteed' ? pods : cgroupBelow(pods, qos.toLowerCase());
}

/** A pod's own cgroup (GetPodContainerName). Throws as `cgroupBelow` does. */
export function podCgroup(pods: CgroupName, pod: Pick<Pod, 'metadata' | 'spec' | 'status'>): CgroupName {
  return cgroupBelow(qosCgroup(pods, classOf(pod)), podPart(pod.metadata.uid));
}

const classes: readonly QosClass[] = ['Guaranteed', 'Burstable', 'BestEffort'];

function classOf({ spec, status }: Pick<Pod, 'spec' | 'status'>): QosClass {
  return classes.find((qos) => qos === status?.qosClass) ?? podQosClass({ spec });
}

/** The last part of a pod's cgroup (GetPodCgroupNameSuffix). */
export const podPart = (uid: string): string => `${POD}${uid}`;

/** Whose cgroup a path is; undefined: no pod's (IsPodCgroup). A uid that says "pod" itself cannot be told from its name. */
export function uidOfCgroup(pods: CgroupName, path: string, driver: CgroupDriver): PodUid | undefined {
  const name = parseCgroupPath(path, driver);
  const levels = classes.map((qos) => qosCgroup(pods, qos).length);
  const last = levels.includes(name.length - 1) ? (name.at(-1) ?? '') : '';
  const uid = last.startsWith(POD) ? last.slice(POD.length) : undefined;
  return uid === undefined || uid.includes(POD) ? undefined : (uid as PodUid);
}
