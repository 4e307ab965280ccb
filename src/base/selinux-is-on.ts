import { existsSync } from 'node:fs';

/** Whether this machine labels processes and files (SELINUXMNT of libselinux): what containers share with it needs their label. */
export const selinuxIsOn = (): boolean => existsSync('/sys/fs/selinux/enforce');
