import type { DiskStats } from '../ports/pod-stats.ts';
import { parseNumber } from './cgroup-texts.ts';

export const diskFilesV1 = [
  'blkio.throttle.io_service_bytes_recursive',
  'blkio.throttle.io_serviced_recursive',
  'blkio.throttle.io_service_bytes',
  'blkio.throttle.io_serviced',
] as const;
export const diskFilesV2 = ['io.stat'] as const;

/** By number: "8:0". */
type Disks = ReadonlyMap<string, Omit<DiskStats, 'device'>>;
type Files<Names extends readonly string[]> = Readonly<Record<Names[number], string | undefined>>;

/** Lines of "8:0 Read 4096"; with what is below, where the kernel tells. Undefined: not counted here. */
export function disksOfV1(files: Files<typeof diskFilesV1>): Disks | undefined {
  const bytes = files['blkio.throttle.io_service_bytes_recursive'] ?? files['blkio.throttle.io_service_bytes'];
  const counts = files['blkio.throttle.io_serviced_recursive'] ?? files['blkio.throttle.io_serviced'];
  if (bytes === undefined || counts === undefined) return undefined;
  const disks = new Map<string, { readBytes: number; writtenBytes: number; reads: number; writes: number }>();
  const each = (text: string, read: 'readBytes' | 'reads', written: 'writtenBytes' | 'writes'): void => {
    for (const line of text.split('\n')) {
      const [number, what, value] = line.split(' ');
      if (number === undefined || value === undefined || (what !== 'Read' && what !== 'Write')) continue;
      const disk = disks.get(number) ?? { readBytes: 0, writtenBytes: 0, reads: 0, writes: 0 };
      disk[what === 'Read' ? read : written] = parseNumber(value) ?? 0;
      disks.set(number, disk);
    }
  };
  each(bytes, 'readBytes', 'writtenBytes');
  each(counts, 'reads', 'writes');
  return disks;
}

/** Lines of "8:0 rbytes=4096 wbytes=0 rios=1 wios=0". Some kernels write numbers without values before it on the line. */
export function disksOfV2(files: Files<typeof diskFilesV2>): Disks | undefined {
  const text = files['io.stat'];
  if (text === undefined) return undefined;
  return new Map(
    text.split('\n').flatMap((line): [string, Omit<DiskStats, 'device'>][] => {
      const words = line.split(' ');
      const number = words.findLast((word) => /^\d+:\d+$/.test(word));
      const values = new Map(words.filter((word) => word.includes('=')).map((word) => splitAt(word, word.indexOf('='))));
      if (number === undefined || values.size === 0) return [];
      const of = (name: string): number => parseNumber(values.get(name)) ?? 0;
      return [[number, { readBytes: of('rbytes'), writtenBytes: of('wbytes'), reads: of('rios'), writes: of('wios') }]];
    }),
  );
}

const splitAt = (word: string, at: number): [string, string] => [word.slice(0, at), word.slice(at + 1)];

/** From /proc/diskstats: "8:0" is "/dev/sda". */
export function parseDiskNames(text: string): ReadonlyMap<string, string> {
  return new Map(
    text.split('\n').flatMap((line): [string, string][] => {
      const [major, minor, name] = line.trim().split(/\s+/);
      return name === undefined ? [] : [[`${major}:${minor}`, `/dev/${name}`]];
    }),
  );
}

export function namedDisks(disks: Disks, names: ReadonlyMap<string, string>): readonly DiskStats[] {
  return [...disks].map(([number, use]) => ({ device: names.get(number) ?? number, ...use }));
}
