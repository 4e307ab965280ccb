import type { Clock } from '../base/clock.ts';
import { runCommand } from '../base/run-command.ts';
import { linearCpuWeight } from '../model/cpu-weight.ts';
import { type CgroupName, systemdUnit } from '../model/cgroup-name.ts';
import type { ResourceConfig } from '../model/resource-config.ts';

/** Slices, which are systemd's: what is only written into their files, it may set back. */
export interface Slices {
  /** Makes it, and tells systemd of the limits that it knows. */
  set(name: CgroupName, config: ResourceConfig): Promise<void>;
  /** Of one that is gone already, too. */
  stop(name: CgroupName): Promise<void>;
}

const DEADLINE_MS = 10_000;
const manager = ['org.freedesktop.systemd1', '/org/freedesktop/systemd1', 'org.freedesktop.systemd1.Manager'];

/** By systemd's own programs, which talk to it in its own way. `programs`: the directory that has them, for tests. */
export function systemdSlices(clock: Pick<Clock, 'schedule'>, programs = ''): Slices {
  const call = async (unless: RegExp | undefined, program: string, ...argv: readonly string[]): Promise<void> => {
    const what = `${program} ${argv.join(' ')}`;
    const end = await runCommand(`${programs}${program}`, argv, { clock, deadlineMs: DEADLINE_MS, signal: new AbortController().signal });
    if (end.is === 'exited' && (end.code === 0 || unless?.test(end.stderr))) return;
    if (end.is === 'late') throw new Error(`${what} took longer than ${DEADLINE_MS / 1000} s`);
    throw new Error(`${what} failed: ${end.is === 'missing' ? end.error.message : end.stderr.trim() || end.is}`);
  };
  return {
    set: async (name, config) => {
      const { unit } = systemdUnit(name);
      const properties = sliceProperties(config);
      // A transient unit leaves nothing behind; without the usual dependencies the machine's going down does not stop it before what is in it.
      const arguments_ = ['ssa(sv)a(sa(sv))', unit, 'replace', '1', 'DefaultDependencies', 'b', 'false', '0'];
      await call(/already (loaded|exists)/, 'busctl', 'call', ...manager, 'StartTransientUnit', ...arguments_);
      if (properties.length > 0) await call(undefined, 'systemctl', 'set-property', '--runtime', unit, ...properties);
    },
    stop: (name) => call(/not loaded/, 'systemctl', 'stop', systemdUnit(name).unit),
  };
}

/** Only what systemd has a property for; the rest is in the files alone. */
function sliceProperties({ cpuShares, cpuQuota = 0, cpuPeriod = 0, memory = 0, pidsLimit = 0 }: ResourceConfig): readonly string[] {
  // In whole percents, as systemd has them: never less than is asked for.
  const percent = cpuQuota > 0 && cpuPeriod > 0 ? [`CPUQuota=${Math.ceil((cpuQuota * 100) / cpuPeriod)}%`] : [];
  return [
    ...(cpuShares === undefined ? [] : [`CPUWeight=${linearCpuWeight(cpuShares)}`]),
    ...(cpuQuota < 0 ? ['CPUQuota='] : percent),
    ...(memory > 0 ? [`MemoryMax=${memory}`] : []),
    ...(pidsLimit > 0 ? [`TasksMax=${pidsLimit}`] : []),
  ];
}
