import { basename, join } from 'node:path';
import type { Machine } from './machine.ts';

const FLUSH_MS = 100_000;

/**
 * Takes disks from the node: the device that is made of them first, then each of them, once what was written has reached it. Rejects while the kernel has
 * a file system of one, or somebody has made another device of it: what is still to be written would be lost.
 */
export async function removeDevices(devices: readonly string[], machine: Machine, signal: AbortSignal): Promise<void> {
  for (const device of devices) await checkUnused(device, machine);
  const whole = new Set<string>();
  const paths = new Set(devices);
  for (const device of devices) {
    const found = await machine.multipathOf(device);
    if (found === undefined) continue;
    whole.add(found);
    for (const each of await machine.names(machine.roots.sys, 'block', basename(found), 'slaves')) paths.add(join(machine.roots.dev, each));
  }
  for (const device of whole) {
    await checkUnused(device, machine);
    const { code, said } = await machine.run('multipath', ['-f', device], { deadlineMs: FLUSH_MS, subject: device, signal });
    if (code !== 0) throw new Error(`failed to flush multipath device ${device}: ${said}`);
  }
  for (const device of paths) {
    // One that has died cannot be flushed, and must go all the same.
    await machine.run('blockdev', ['--flushbufs', device], { deadlineMs: FLUSH_MS, subject: device, signal });
    await machine.tell(join(machine.roots.sys, 'block', basename(device), 'device/delete'), '1', signal);
  }
}

async function checkUnused(device: string, machine: Machine): Promise<void> {
  if (await machine.isUsed(device)) throw new Error(`${device} is still in use: the kernel has a file system of it, or another device`);
}
