import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type EvictionTexts, evictionProblems } from '../../../src/options/check-eviction.ts';

const problems = (texts: Partial<EvictionTexts>): readonly string[] =>
  evictionProblems({ evictionHard: {}, evictionSoft: {}, evictionSoftGracePeriod: {}, evictionMinimumReclaim: {}, ...texts });

test('what cannot be parsed is refused with its field, its signal and its text, all of it at once', () => {
  const found = problems({
    evictionHard: { 'memory.available': 'abc', 'cpu.available': '1', 'nodefs.available': '101%' },
    evictionSoft: { 'memory.available': '1Gi', 'pid.available': '5%' },
    evictionSoftGracePeriod: { 'memory.available': '1d' },
    evictionMinimumReclaim: { 'nodefs.available': '0%' },
  });
  assert.deepEqual(found, [
    `invalid configuration: evictionHard (--eviction-hard) memory.available "abc": quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'`,
    'invalid configuration: evictionHard (--eviction-hard) cpu.available "1": unsupported eviction signal cpu.available',
    'invalid configuration: evictionHard (--eviction-hard) nodefs.available "101%": eviction percentage threshold nodefs.available must be <= 100%: 101%',
    'invalid configuration: evictionSoftGracePeriod (--eviction-soft-grace-period) memory.available "1d": time: unknown unit "d" in duration "1d"',
    'invalid configuration: evictionMinimumReclaim (--eviction-minimum-reclaim) nodefs.available "0%": eviction percentage minimum reclaim nodefs.available must be positive: 0%',
    'invalid configuration: evictionSoftGracePeriod (--eviction-soft-grace-period) pid.available: grace period must be specified for the soft eviction threshold pid.available',
  ]);
});

describe('thresholds that contradict each other are refused:', () => {
  const grace = { 'memory.available': '1m' };
  for (const [name, texts, expected] of [
    [
      'a soft one below the hard one',
      { evictionHard: { 'memory.available': '1Gi' }, evictionSoft: { 'memory.available': '1023Mi' }, evictionSoftGracePeriod: grace },
      [
        'invalid configuration: evictionSoft (--eviction-soft) memory.available "1023Mi" is below evictionHard (--eviction-hard) memory.available "1Gi", which would always act before it',
      ],
    ],
    [
      'both at the same amount do not',
      { evictionHard: { 'memory.available': '1Gi' }, evictionSoft: { 'memory.available': '1024Mi' }, evictionSoftGracePeriod: grace },
      [],
    ],
    [
      'an amount and a share do not: which is more depends on the machine',
      { evictionHard: { 'memory.available': '1Gi' }, evictionSoft: { 'memory.available': '1%' }, evictionSoftGracePeriod: grace },
      [],
    ],
    [
      'a hard one that is switched off does not',
      { evictionHard: { 'memory.available': '0%' }, evictionSoft: { 'memory.available': '1%' }, evictionSoftGracePeriod: grace },
      [],
    ],
    [
      'a reclaim that leads above the capacity',
      { evictionHard: { 'nodefs.available': '60%' }, evictionMinimumReclaim: { 'nodefs.available': '41%' } },
      [
        'invalid configuration: evictionHard (--eviction-hard) nodefs.available "60%" and evictionMinimumReclaim (--eviction-minimum-reclaim) nodefs.available "41%" are more than 100% together: no eviction would be enough',
      ],
    ],
    [
      'one that leads to the capacity does not',
      { evictionHard: { 'nodefs.available': '60%' }, evictionMinimumReclaim: { 'nodefs.available': '40%' } },
      [],
    ],
    [
      'what is no number',
      { evictionHard: { 'nodefs.available': 'NaN%' }, evictionMinimumReclaim: { 'nodefs.available': 'nan%' } },
      [
        'invalid configuration: evictionHard (--eviction-hard) nodefs.available "NaN%": a threshold must be a number',
        'invalid configuration: evictionMinimumReclaim (--eviction-minimum-reclaim) nodefs.available "nan%": a minimum reclaim must be a number',
      ],
    ],
  ] as const) {
    test(name, () => assert.deepEqual(problems(texts), expected));
  }
});
