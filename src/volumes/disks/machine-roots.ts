import { runCommand } from '../../base/run-command.ts';

/** Where a machine has its devices, and what it has of iSCSI. */
export interface MachineRoots {
  /** "/dev" */
  readonly dev: string;
  /** "/sys" */
  readonly sys: string;
  /** "/proc" */
  readonly proc: string;
  /** Where iscsiadm has its records: Debian's place, and that of others. */
  readonly iscsiRecords: readonly string[];
  /** Runs its programs. */
  readonly run: typeof runCommand;
}

export const realRoots: MachineRoots = {
  dev: '/dev',
  sys: '/sys',
  proc: '/proc',
  iscsiRecords: ['/etc/iscsi', '/var/lib/iscsi'],
  run: runCommand,
};
