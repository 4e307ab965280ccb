import assert from 'node:assert/strict';
import { test } from 'node:test';
import { pinoLogger } from '../../../src/base/pino-logger.ts';
import { parseStreamLevels, Verbosity } from '../../../src/base/verbosity.ts';

test('patterns add detail to the streams that they match, and never take any away; the first counts', () => {
  const verbosity = new Verbosity(2, [
    { pattern: 'pl?g', level: 5 },
    { pattern: 'p*', level: 4 },
    { pattern: 'lease', level: 0 },
  ]);
  assert.deepEqual(
    ['pleg', 'probes', 'lease', 'mux', ''].map((stream) => verbosity.of(stream)),
    [5, 4, 2, 2, 2],
  );
  verbosity.set(6);
  assert.equal(verbosity.of('pleg'), 6);
  verbosity.set(1);
  verbosity.setStreams([]);
  assert.equal(verbosity.of('pleg'), 1);
});

test('levels of streams are pairs, and nothing else', () => {
  assert.deepEqual(parseStreamLevels('reconcile=5,,le*=2,'), [
    { pattern: 'reconcile', level: 5 },
    { pattern: 'le*', level: 2 },
  ]);
  assert.deepEqual(parseStreamLevels(''), []);
  for (const text of ['a', 'a=', '=1', 'a=b', 'a=-1', 'a=1=2', 'a=99999999999', 'a=2147483648'])
    assert.equal(parseStreamLevels(text), undefined, text);
});

test('a stream is printed up to its own level, under its name', () => {
  const lines: string[] = [];
  const verbosity = new Verbosity(0, [{ pattern: 'lease', level: 3 }]);
  const log = pinoLogger({
    format: 'text',
    verbosity: (stream) => verbosity.of(stream),
    destination: { write: (line) => lines.push(line.replace(/^I\d{4} \S+ /, '')) },
  });
  for (const stream of ['lease', 'node']) log.child({ a: 1 }).stream(stream).v(3, 'renewed');
  assert.deepEqual(lines, ['renewed a=1 logger="lease"\n']);
});
