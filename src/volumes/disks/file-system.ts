import { MountStepError } from '../../model/mount-step-error.ts';
import type { Machine } from './machine.ts';

export interface FileSystemWish {
  /** Empty: whatever is there; what is made is ext4. */
  readonly fsType: string;
  readonly readOnly: boolean;
}

const LOOK_MS = 30_000;
const CHECK_MS = 200_000;
const MAKE_MS = 200_000;

/** Of ext2, ext3 and ext4, each is mounted as the other. */
const EXT = /^ext[234]$/;
const NTFS = new Set(['ntfs', 'ntfs3', 'ntfs-3g']);
const FS_TYPE = /^[a-z][a-z0-9_-]{0,31}$/;

/**
 * The file system of a device, checked; where there is nothing at all on the device, it is made (k8s.io/mount-utils FormatAndMount). Resolves with how it is
 * to be mounted. A pod chooses `fsType`: it is mounted only as what the device has, as some types are programs, or show what is the node's.
 */
export async function fileSystemOn(
  device: string,
  { fsType, readOnly }: FileSystemWish,
  machine: Pick<Machine, 'run'>,
  signal: AbortSignal,
): Promise<string> {
  if (fsType !== '' && !FS_TYPE.test(fsType)) throw failed(`${JSON.stringify(fsType.slice(0, 100))} is no type of file system`);
  let found = await lookAt(device, machine, signal);
  if (found === undefined) {
    if (readOnly) throw failed(`cannot mount unformatted disk ${device} as we are manipulating it in read-only mode`);
    await checkReadable(device, machine, signal);
    const made = fsType || 'ext4';
    const argv = EXT.test(made) ? ['-F', '-m0', device] : made === 'xfs' ? ['-f', device] : [device];
    const { code, said } = await machine.run(`mkfs.${made}`, argv, { deadlineMs: MAKE_MS, subject: device, signal });
    if (code !== 0) throw failed(`format of disk ${device} failed: type:("${made}") errcode:(${code}) output:(${said})`);
    found = await lookAt(device, machine, signal);
  } else if (!readOnly) await check(device, machine, signal);
  const mountedAs = found === undefined ? undefined : typeToMount(fsType, found);
  if (mountedAs !== undefined) return mountedAs;
  throw failed(`failed to mount the volume as "${fsType}", it already contains ${found ?? 'nothing'}`);
}

/** Undefined: there is nothing on it. */
async function lookAt(device: string, machine: Pick<Machine, 'run'>, signal: AbortSignal): Promise<string | undefined> {
  const argv = ['-p', '-s', 'TYPE', '-s', 'PTTYPE', '-o', 'export', device];
  const { code, stdout, said } = await machine.run('blkid', argv, { deadlineMs: LOOK_MS, subject: device, signal });
  if (code === 2) return undefined;
  if (code !== 0) throw failed(`could not look at disk ${device}: blkid ended with ${code}: ${said}`);
  const [, type] = /^TYPE=(.+)$/m.exec(stdout) ?? [];
  return type ?? (/^PTTYPE=/m.test(stdout) ? 'unknown data, probably partitions' : 'unknown data');
}

/** blkid(8) says the same of a disk that has nothing on it and of one that it cannot read. */
async function checkReadable(device: string, machine: Pick<Machine, 'run'>, signal: AbortSignal): Promise<void> {
  const argv = [`if=${device}`, 'of=/dev/null', 'bs=1M', 'count=1'];
  const { code, said } = await machine.run('dd', argv, { deadlineMs: LOOK_MS, subject: device, signal });
  if (code !== 0) throw failed(`disk ${device} cannot be read, and is not formatted: ${said}`);
}

async function check(device: string, machine: Pick<Machine, 'run'>, signal: AbortSignal): Promise<void> {
  const end = await machine.run('fsck', ['-a', device], { deadlineMs: CHECK_MS, subject: device, signal }).catch((error: unknown) => {
    // A machine may have none, or none for this file system.
    if (error instanceof MountStepError) return undefined;
    throw error;
  });
  if (end?.code === 4) throw failed(`'fsck' found errors on device ${device} but could not correct them: ${end.said}`);
}

function typeToMount(wanted: string, found: string): string | undefined {
  if (!FS_TYPE.test(found)) return undefined;
  if (wanted === '' || wanted === found) return found;
  if (EXT.test(wanted) && EXT.test(found)) return wanted;
  return NTFS.has(wanted) && NTFS.has(found) ? wanted : undefined;
}

const failed = (message: string): MountStepError => new MountStepError('MountDevice', message);
