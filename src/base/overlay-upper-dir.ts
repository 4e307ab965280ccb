/**
 * The directory of what was written into an overlay that is the root of a process, from its /proc/PID/mountinfo; undefined: its root is none, or
 * only for reading.
 */
export function overlayUpperDir(mountInfo: string): string | undefined {
  for (const line of mountInfo.split('\n')) {
    const [before = '', after = ''] = line.split(' - ');
    if (before.split(' ')[4] !== '/') continue;
    const [fsType, , options = ''] = after.split(' ');
    if (fsType !== 'overlay') return undefined;
    const upper = options.split(',').find((option) => option.startsWith('upperdir='));
    return upper?.slice('upperdir='.length).replaceAll(/\\(\d{3})/g, (_, code: string) => String.fromCharCode(parseInt(code, 8)));
  }
  return undefined;
}
