import { rankPods } from '../../../src/eviction/rank-pods.ts';
import type { Signal } from '../../../src/model/eviction/threshold.ts';
import type { Pod } from '../../../src/model/pod.ts';
import { measured, type StatsInput } from './eviction-stats.ts';

interface Input {
  readonly signal: Signal;
  readonly imageFs: boolean;
  readonly splitFs: boolean;
  readonly pods: readonly Pod[];
  readonly stats?: readonly StatsInput[];
}

export const run = ({ signal, imageFs, splitFs, pods, stats }: Input): readonly string[] =>
  rankPods(measured(pods, stats), signal, { imageFs, splitFs }).map(({ pod }) => pod.metadata.name);
