import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ResizeDecoder } from '../../../../src/server/streaming/resize-decoder.ts';

const cases: readonly [name: string, chunks: string[], sizes: [width: number, height: number][]][] = [
  ['one size', ['{"Width":80,"Height":24}\n'], [[80, 24]]],
  [
    'two in one piece',
    ['{"Width":80,"Height":24}{"Width":81,"Height":25}'],
    [
      [80, 24],
      [81, 25],
    ],
  ],
  ['cut anywhere', ['{"Wid', 'th":80,"He', 'ight":24', '}'], [[80, 24]]],
  ['names in any case, as Go reads them', ['{"width":80,"HEIGHT":24,"more":1}'], [[80, 24]]],
  ['without an extent', ['{"Width":80}{"Width":0,"Height":9}{}'], []],
  ['out of range, and what follows', ['{"Width":70000,"Height":24}', '{"Width":80,"Height":24}'], []],
  ['negative', ['{"Width":-1,"Height":24}'], []],
  ['no JSON, and what follows', ['80x24}', '{"Width":80,"Height":24}'], []],
  ['without an end', ['{'.repeat(2_000), '"Width":80,"Height":24}'], []],
];
for (const [name, chunks, sizes] of cases) {
  test(name, () => {
    const decoder = new ResizeDecoder();
    const seen = chunks.flatMap((chunk) => decoder.push(Buffer.from(chunk)));
    assert.deepEqual(
      seen.map(({ width, height }) => [width, height]),
      sizes,
    );
  });
}
