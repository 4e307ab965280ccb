/** A process that the kernel has killed as the whole machine was out of memory. */
export interface OomVictim {
  /** As the kernel writes it: printable. */
  readonly name: string;
  /** On the machine. */
  readonly pid: number;
}

/** "6,38782,5445155214,-;text": a priority of the kernel's own, not of a program that writes into its log. */
const OF_THE_KERNEL = /^[0-7],[^;\n]{0,200};([^\n]*)/;
/** A name has 15 bytes, each of which may be written as "\x1b", and any of which may be a bracket. */
const KILLED = /^(?:(.{1,80}): )?Killed process (\d{1,10}) \(([ -~]{1,60})\)/;
/** Before Linux 5.0, in a line of its own: "Out of memory: Kill process 7 (sh) score 5 or sacrifice child". */
const TO_BE_KILLED = /^([^:]{1,80}): Kill process \d{1,10} \(/;
/** Of a cgroup that has reached its limit it is "Memory cgroup out of memory". */
const WHOLE_MACHINE = /^Out of memory/;

/** Finds in the kernel's log whom it kills for want of memory of the whole machine, in the words of Linux 3.10 and later (mm/oom_kill.c). */
export class OomVictims {
  #announced = false;

  /** The victim that this record tells of, a record after the other. Those of cgroups that have reached their limits are none. */
  take(record: string): OomVictim | undefined {
    const text = OF_THE_KERNEL.exec(record)?.[1] ?? '';
    const announced = TO_BE_KILLED.exec(text);
    if (announced) this.#announced = WHOLE_MACHINE.test(announced[1] ?? '');
    const killed = KILLED.exec(text);
    if (!killed) return undefined;
    const [, why, pid, name = ''] = killed;
    const ofMachine = why === undefined ? this.#announced : WHOLE_MACHINE.test(why);
    this.#announced = false;
    return ofMachine ? { name, pid: Number(pid) } : undefined;
  }
}
