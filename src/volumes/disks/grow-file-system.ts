import type { MountedDevice } from '../mounts.ts';
import type { Machine } from './machine.ts';

const GROW_MS = 200_000;

/**
 * Makes a mounted file system as large as its device is by now; one that is so already stays as it is (k8s.io/mount-utils Resize). Rejects with what
 * the program said.
 */
export async function growFileSystem(
  { source, fsType }: MountedDevice,
  directory: string,
  machine: Pick<Machine, 'run'>,
  signal: AbortSignal,
): Promise<void> {
  const command = commandFor(fsType, source, directory);
  if (command === undefined) throw new Error(`resize of format ${fsType} is not supported for device ${source} mounted at ${directory}`);
  const [program, argv] = command;
  const { code, said } = await machine.run(program, argv, { deadlineMs: GROW_MS, subject: source, signal });
  if (code !== 0) throw new Error(`resize of device ${source} failed: exit status ${code}. ${program} output: ${said}`);
}

function commandFor(fsType: string, device: string, directory: string): readonly [string, readonly string[]] | undefined {
  switch (fsType) {
    case 'ext3':
    case 'ext4':
      return ['resize2fs', [device]];
    case 'xfs':
      return ['xfs_growfs', ['-d', directory]];
    case 'btrfs':
      return ['btrfs', ['filesystem', 'resize', 'max', directory]];
    default:
      return undefined;
  }
}
