import type { Pressure, PressureShare } from '../ports/pod-stats.ts';
import { parseNumber } from './cgroup-texts.ts';

/** cpu.pressure and its like, of a cgroup or in /proc/pressure. Undefined: the kernel does not count. Without a line "full", which older kernels do not write for CPUs, that is nothing. */
export function parsePressure(text: string | undefined): Pressure | undefined {
  const lines = new Map((text ?? '').split('\n').map((line) => [line.slice(0, line.indexOf(' ')), line]));
  const some = shareOf(lines.get('some'));
  return some && { some, full: shareOf(lines.get('full')) ?? { avg10: 0, avg60: 0, avg300: 0, totalUs: 0 } };
}

function shareOf(line: string | undefined): PressureShare | undefined {
  if (line === undefined) return undefined;
  const values = new Map(line.split(' ').map((word) => [word.slice(0, word.indexOf('=')), word.slice(word.indexOf('=') + 1)]));
  const of = (name: string): number => parseNumber(values.get(name)) ?? 0;
  return { avg10: of('avg10'), avg60: of('avg60'), avg300: of('avg300'), totalUs: of('total') };
}
