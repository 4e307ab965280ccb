import type { Signal } from '../../../src/model/eviction/threshold.ts';
import type { Pod } from '../../../src/model/pod.ts';
import type { StatsInput } from './eviction-stats.ts';
import { run as rank } from './evictionRanking36.ts';

interface Input {
  readonly signal: Signal;
  readonly dedicatedImageFs: boolean;
  readonly pods: readonly Pod[];
  readonly stats?: readonly StatsInput[];
}

export const run = ({ dedicatedImageFs, ...input }: Input): readonly string[] =>
  rank({ ...input, imageFs: dedicatedImageFs, splitFs: false });
