import { parseMountInfo } from '../base/mount-info.ts';
import type { NetworkInterfaceStats } from '../ports/pod-stats.ts';
import { TICKS_PER_SECOND } from './cgroup-texts.ts';

/** What no pod or node is reached through (cAdvisor's ignoredDevicePrefixes). */
const ignoredInterfaces = /^(lo|veth|docker)/i;
/** What the kubelet takes for the default interface, and what engines call it in a container. */
const DEFAULT_INTERFACE = 'eth0';

/** /proc/PID/net/dev; the default interface first: eth0, or where /proc/PID/net/route leads by default. */
export function parseInterfaces(netDev: string, netRoute = ''): NetworkInterfaceStats[] {
  const interfaces = netDev.split('\n').flatMap((line): NetworkInterfaceStats[] => {
    const [, name, rest] = /^\s*([^\s|][^\s]*):\s*(.*)$/.exec(line) ?? [];
    if (name === undefined || rest === undefined || ignoredInterfaces.test(name)) return [];
    const [rxBytes = 0, rxPackets = 0, rxErrors = 0, rxDropped = 0, , , , , txBytes = 0, txPackets = 0, txErrors = 0, txDropped = 0] = rest
      .trim()
      .split(/\s+/)
      .map(Number);
    return [{ name, rxBytes, rxErrors, rxPackets, rxDropped, txBytes, txErrors, txPackets, txDropped }];
  });
  const routed = /^(\S+)\t00000000\t/m.exec(netRoute)?.[1];
  const preferred = interfaces.some(({ name }) => name === DEFAULT_INTERFACE) ? DEFAULT_INTERFACE : routed;
  return interfaces.toSorted((a, b) => Number(b.name === preferred) - Number(a.name === preferred));
}

/** /proc/stat: when the machine started, in milliseconds since the epoch. */
export function parseBootTime(text: string): number | undefined {
  const seconds = /^btime (\d+)$/m.exec(text)?.[1];
  return seconds === undefined ? undefined : Number(seconds) * 1000;
}

/** /proc/stat: processor time spent on something, all processors together. */
export function parseMachineCpu(text: string): number | undefined {
  const fields = /^cpu +(.*)$/m.exec(text)?.[1]?.trim().split(/\s+/).map(Number);
  if (fields === undefined) return undefined;
  // Time of guests is counted in user and nice already; idle, and waiting for I/O, is not use.
  const [user = 0, nice = 0, system = 0, , , irq = 0, softirq = 0, steal = 0] = fields;
  return ((user + nice + system + irq + softirq + steal) / TICKS_PER_SECOND) * 1e9;
}

/** /proc/loadavg: all threads of the machine, whom sysinfo(2) calls processes. */
export function parseThreads(text: string): number | undefined {
  const threads = /^(?:\S+ ){3}\d+\/(\d+)/.exec(text)?.[1];
  return threads === undefined ? undefined : Number(threads);
}

export interface ProcessUse {
  readonly name: string;
  readonly cpuNanoSeconds: number;
  readonly pageFaults: number;
  readonly majorPageFaults: number;
  /** Since the machine started. */
  readonly startedAfterMs: number;
}

/** /proc/PID/stat */
export function parseProcessStat(text: string): ProcessUse | undefined {
  // The name, in parentheses, may hold anything.
  const [, name, rest] = /^\d+ \((.*)\) (.*)$/s.exec(text.trim()) ?? [];
  if (name === undefined || rest === undefined) return undefined;
  const fields = rest.split(' ').map(Number);
  const [minor = 0, major = 0, user = 0, system = 0, started = 0] = [7, 9, 11, 12, 19].map((i) => fields[i]);
  return {
    name,
    cpuNanoSeconds: ((user + system) / TICKS_PER_SECOND) * 1e9,
    pageFaults: minor + major,
    majorPageFaults: major,
    startedAfterMs: (started / TICKS_PER_SECOND) * 1000,
  };
}

/** Where something is mounted. Asking the file systems themselves could take for ever. */
export function mountPoints(mountInfo: string): ReadonlySet<string> {
  return new Set(parseMountInfo(mountInfo).map(({ path }) => path));
}
