import type { PullProgress } from '../ports/image-service.ts';

/** "pulling busybox:1.35: 3 of 5 layers, 12.3 of 45 MB, about 8 s left". Undefined time left: not known yet. */
export function describeProgress(image: string, progress: PullProgress, msLeft: number | undefined): string {
  const { layers, layersDone, bytes, bytesDone } = progress;
  const parts = [`${layersDone} of ${layers} ${layers === 1 ? 'layer' : 'layers'}`];
  if (bytes > 0) {
    const [divisor, unit] = unitOf(bytes);
    parts.push(`${amount(bytesDone / divisor)} of ${amount(bytes / divisor)} ${unit}`);
  }
  if (msLeft !== undefined) parts.push(`about ${duration(msLeft)} left`);
  return `pulling ${image}: ${parts.join(', ')}`;
}

/** Decimal units, as docker and registries count. */
function unitOf(bytes: number): readonly [number, string] {
  if (bytes >= 1e9) return [1e9, 'GB'];
  if (bytes >= 1e6) return [1e6, 'MB'];
  return bytes >= 1e3 ? [1e3, 'kB'] : [1, 'B'];
}

const amount = (value: number): string => String(Number(value.toFixed(1)));

function duration(ms: number): string {
  const seconds = Math.max(1, Math.round(ms / 1000));
  return seconds < 120 ? `${seconds} s` : `${Math.round(seconds / 60)} min`;
}
