import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

export interface Machine {
  /** Holds proc and sys. */
  readonly root: string;
  /** Adds files, or replaces them. */
  write(files: Readonly<Record<string, string>>): Promise<void>;
  /** A path in the machine, as the test's own file system has it. */
  at(path: string): string;
  remove(): Promise<void>;
}

/** The files in which a kernel tells what is used, in a directory of their own. */
export async function aMachine(files: Readonly<Record<string, string>>): Promise<Machine> {
  const root = await mkdtemp(join(tmpdir(), 'rxlet-machine-'));
  const at = (path: string): string => join(root, path);
  const write = async (more: Readonly<Record<string, string>>): Promise<void> => {
    for (const [path, text] of Object.entries(more)) {
      await mkdir(dirname(at(path)), { recursive: true });
      await writeFile(at(path), text);
    }
  };
  await write(files);
  return { root, write, at, remove: () => rm(root, { recursive: true }) };
}

/** A cgroup as version 1 shows it, for `aMachine`. */
export function cgroupV1(path: string, { cpuNs, usage, inactive, limit = '9223372036854771712' }: CgroupUse): Record<string, string> {
  const below = (controller: string, file: string): string => `sys/fs/cgroup/${controller}${path === '/' ? '' : path}/${file}`;
  return {
    [below('cpuacct', 'cpuacct.usage')]: `${cpuNs}\n`,
    [below('cpuacct', 'cpuacct.stat')]: 'user 7\nsystem 3\n',
    [below('cpu', 'cpu.stat')]: 'nr_periods 34\nnr_throttled 21\nthrottled_time 308512438\n',
    [below('cpu', 'cpu.shares')]: '512\n',
    [below('cpu', 'cpu.cfs_period_us')]: '100000\n',
    [below('cpu', 'cpu.cfs_quota_us')]: '50000\n',
    [below('memory', 'memory.usage_in_bytes')]: `${usage}\n`,
    [below('memory', 'memory.max_usage_in_bytes')]: `${usage}\n`,
    [below('memory', 'memory.failcnt')]: '2\n',
    [below('memory', 'memory.oom_control')]: 'oom_kill_disable 0\nunder_oom 0\noom_kill 6\n',
    [below('blkio', 'blkio.throttle.io_service_bytes_recursive')]: '8:0 Read 4096\n8:0 Write 512\n8:0 Total 4608\nTotal 4608\n',
    [below('blkio', 'blkio.throttle.io_serviced_recursive')]: '8:0 Read 3\n8:0 Write 1\n8:0 Total 4\nTotal 4\n',
    [below('memory', 'memory.limit_in_bytes')]: `${limit}\n`,
    [below('memory', 'memory.stat')]:
      `cache 1\nrss 2\npgfault 3\ninactive_file 4\ntotal_cache 600\ntotal_rss 300\ntotal_mapped_file 50\ntotal_swap 11\ntotal_pgfault 40\ntotal_pgmajfault 5\ntotal_inactive_file ${inactive}\n`,
    [below('pids', 'cgroup.procs')]: '100\n101\n',
    [below('pids', 'pids.current')]: '3\n',
  };
}

/** A cgroup as version 2 shows it, for `aMachine`. */
export function cgroupV2(path: string, { cpuNs, usage, inactive, limit = 'max' }: CgroupUse): Record<string, string> {
  const below = (file: string): string => `sys/fs/cgroup${path}/${file}`;
  return {
    [below('cpu.stat')]:
      `usage_usec ${cpuNs / 1000}\nuser_usec 70000\nsystem_usec 30000\nnr_periods 34\nnr_throttled 21\nthrottled_usec 308512\n`,
    [below('cpu.max')]: '50000 100000\n',
    [below('cpu.weight')]: '20\n',
    [below('memory.current')]: `${usage}\n`,
    [below('memory.max')]: `${limit}\n`,
    [below('memory.stat')]: `anon 300\nfile 600\nfile_mapped 50\ninactive_file ${inactive}\npgfault 40\npgmajfault 5\n`,
    [below('memory.events')]: 'low 0\nhigh 0\nmax 2\noom 7\noom_kill 6\n',
    [below('memory.swap.current')]: '11\n',
    [below('memory.swap.max')]: '20\n',
    [below('io.stat')]: '8:0 rbytes=4096 wbytes=512 rios=3 wios=1 dbytes=0 dios=0\n',
    [below('cpu.pressure')]: 'some avg10=1.50 avg60=0.20 avg300=0.00 total=5000\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=40\n',
    [below('memory.pressure')]: 'some avg10=0.00 avg60=0.00 avg300=0.00 total=6000\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=0\n',
    [below('io.pressure')]: 'some avg10=0.00 avg60=0.00 avg300=0.00 total=7000\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=0\n',
    [below('cgroup.procs')]: '100\n101\n',
    [below('pids.current')]: '3\n',
  };
}

interface CgroupUse {
  readonly cpuNs: number;
  readonly usage: number;
  readonly inactive: number;
  readonly limit?: string;
}

/** The files of /proc that tell of the whole machine. */
export const procOfMachine: Readonly<Record<string, string>> = {
  'proc/stat': 'cpu  100 10 50 9000 7 0 3 1 5 0\ncpu0 1 2 3 4\nbtime 1000\n',
  'proc/meminfo':
    'MemTotal:       1000 kB\nMemFree:         400 kB\nCached: 50 kB\nInactive(file):  100 kB\nAnonPages:       200 kB\nSwapTotal:       500 kB\nSwapFree:        480 kB\n',
  'proc/vmstat': 'pgfault 77\npgmajfault 7\n',
  'proc/pressure/cpu': 'some avg10=9.00 avg60=0.00 avg300=0.00 total=90\n',
  'proc/diskstats': '   8       0 sda 1 2 3\n 259       1 nvme0n1p1 1\n',
  'proc/loadavg': '0.42 0.49 1.00 3/545 509\n',
  'proc/sys/kernel/pid_max': '32768\n',
  'proc/sys/kernel/threads-max': '20000\n',
  'proc/self/mountinfo': '23 1 8:1 / / rw - ext4 /dev/root rw\n',
  'proc/self/stat': `9 (node (main)) S 1 9 9 0 -1 0 11 0 2 0 30 20 0 0 20 0 1 0 500 0 0\n`,
  'proc/self/status': 'Name:\tnode\nVmRSS:\t  80 kB\nRssAnon:\t  60 kB\n',
  'proc/self/net/dev':
    'Inter-|   Receive  |  Transmit\n face |bytes packets\n    lo: 5 5 0 0 0 0 0 0 5 5 0 0 0 0 0 0\n  ens3: 10 2 3 4 0 0 0 0 20 6 7 8 0 0 0 0\nveth12: 1 1 1 1 0 0 0 0 1 1 1 1 0 0 0 0\n',
  'proc/self/net/route': 'Iface\tDestination\tGateway\nens3\t00000000\t0100000A\n',
};
