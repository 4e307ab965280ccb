import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';
import { errorCode } from '../base/error-code.ts';

/** No record is longer (kernel/printk: CONSOLE_EXT_LOG_MAX). */
const MOST_BYTES = 8192;
/** The character device 1:11. */
const KMSG = (1 << 8) | 11;

/** Records as Documentation/ABI/testing/dev-kmsg has them: "PRIORITY,NUMBER,MICROSECONDS,FLAGS;TEXT\n", and lines that begin with a space. */
export interface KernelLog {
  /**
   * The one after that which was read last. Empty: records were written over before they were read, or one is too long; undefined: there is none
   * yet. Never waits. Throws where it cannot be read any more.
   */
  next(): string | undefined;
  close(): void;
}

/** The kernel's log from its oldest record on. Throws where it may not be read, and where something else is in its place: some machines have a console there. */
export function openKernelLog(path = '/dev/kmsg'): KernelLog {
  const fd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOCTTY);
  const stat = fstatSync(fd);
  if (!stat.isCharacterDevice() || stat.rdev !== KMSG) {
    closeSync(fd);
    throw new Error(`${path} is not the kernel's log`);
  }
  const record = Buffer.alloc(MOST_BYTES);
  return {
    next: () => {
      try {
        return record.toString('latin1', 0, readSync(fd, record, 0, MOST_BYTES, null));
      } catch (error) {
        const code = errorCode(error);
        if (code === 'EAGAIN') return undefined;
        if (code === 'EPIPE' || code === 'EINVAL') return '';
        throw error;
      }
    },
    close: () => closeSync(fd),
  };
}
