import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { type DecodeOptions, LogDecoder } from '../../../../../src/engines/common/logs/log-decoder.ts';
import { parseCriLine, parseDockerLine } from '../../../../../src/engines/common/logs/log-line.ts';

const NO_OPTIONS: DecodeOptions = { timestamps: false };

function decoded(file: string | Buffer, options: DecodeOptions = NO_OPTIONS): { stdout: string; stderr: string; error?: string } {
  const decoder = new LogDecoder(options);
  const parts = { stdout: [] as Uint8Array[], stderr: [] as Uint8Array[] };
  for (const { stream, bytes } of decoder.decode(Buffer.from(file))) parts[stream].push(bytes);
  const written = { stdout: Buffer.concat(parts.stdout).toString(), stderr: Buffer.concat(parts.stderr).toString() };
  return decoder.failure ? { ...written, error: decoder.failure.message } : written;
}

/** As Docker's json-file driver writes it: some characters escaped that need not be. */
function dockerLine(log: string, stream: string, time: string): string {
  const text = JSON.stringify(log).replace(/[<>&\u2028\u2029]/g, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`);
  return `{"log":${text},"stream":"${stream}","time":"${time}"}\n`;
}

const time = fc
  .date({ min: new Date('1970-01-01T00:00:00Z'), max: new Date('2199-12-31T00:00:00Z'), noInvalidDate: true })
  .map((date) => date.toISOString());
const anyText = fc.string({ unit: 'binary', maxLength: 60 });

describe("decoding a container's log", () => {
  test('gives back any text that Docker has written, by the quick way as by the slow one', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(anyText, fc.constantFrom('stdout', 'stderr'), time), { maxLength: 8 }), (lines) => {
        const file = lines.map((line) => dockerLine(...line)).join('');
        const of = (wanted: string): string => lines.map(([log, stream]) => (stream === wanted ? log.toWellFormed() : '')).join('');
        assert.deepEqual(decoded(file), { stdout: of('stdout'), stderr: of('stderr') });
        // A field in another place takes the slow way.
        const slow = lines.map(([log, stream, at]) => `${JSON.stringify({ time: at, log, stream })}\n`).join('');
        assert.deepEqual(decoded(slow, { timestamps: true, sinceMs: 0 }), decoded(file, { timestamps: true, sinceMs: 0 }));
      }),
    );
  });

  test('gives back any text that a runtime has written, by the quick way as by the slow one, with each option', () => {
    const options = fc.record(
      {
        timestamps: fc.boolean(),
        sinceMs: fc.constant(Date.UTC(2050)),
        limitBytes: fc.nat(300),
        stream: fc.constantFrom('Stdout' as const, 'Stderr' as const),
      },
      { requiredKeys: ['timestamps'] },
    );
    const utc = fc
      .tuple(time, fc.nat(9))
      .map(([at, digits]) => at.replace(/\.\d+Z$/, digits === 0 ? 'Z' : `.${'123456789'.slice(0, digits)}Z`));
    const line = fc.tuple(utc, fc.constantFrom('stdout', 'stderr'), fc.constantFrom('F', 'P', 'Q'), anyText);
    fc.assert(
      fc.property(fc.array(line, { maxLength: 8 }), options, (lines, wanted) => {
        const file = (tagged: (tag: string) => string): string =>
          lines.map(([at, stream, tag, text]) => `${at} ${stream} ${tagged(tag)} ${text.replaceAll('\n', '')}\n`).join('');
        // More than one tag takes the slow way.
        assert.deepEqual(
          decoded(
            file((tag) => tag),
            wanted,
          ),
          decoded(
            file((tag) => `${tag}:`),
            wanted,
          ),
        );
      }),
    );
  });

  test('never fails or makes things up on a runtime’s line that is cut or damaged anywhere', () => {
    const good = '2021-02-03T04:05:06.1Z stdout F fine\n';
    fc.assert(
      fc.property(fc.nat(200), fc.nat(255), fc.boolean(), (at, byte, cut) => {
        const damaged = Buffer.from('2021-02-03T04:05:06.123456789Z stderr F some text\n');
        if (cut) damaged.fill(byte, at % damaged.length);
        else damaged[at % damaged.length] = byte;
        const file = Buffer.concat([Buffer.from(good), damaged.subarray(0, -1), Buffer.from('\n')]);
        const { stdout, stderr, error } = decoded(file);
        assert.ok(stdout.startsWith('fine\n'));
        const parts = file
          .toString('latin1')
          .split(/(?<=\n)/)
          .slice(1);
        const slow = parts.map((part) => parseCriLine(Buffer.from(part, 'latin1')));
        const of = (stream: string): string => slow.map((parsed) => (parsed?.stream === stream ? parsed.bytes.toString() : '')).join('');
        if (error === undefined) assert.deepEqual([stdout, stderr], [`fine\n${of('stdout')}`, of('stderr')]);
      }),
    );
  });

  test('has room for timestamps that are longer than the log’s own', () => {
    for (const lines of [1, 2, 1000]) {
      const { stdout } = decoded('2021-02-03T04:05:06Z stdout F \n'.repeat(lines), { timestamps: true });
      assert.equal(stdout, '2021-02-03T04:05:06.000000000Z \n'.repeat(lines));
    }
  });

  test('never fails or makes things up on a file that is cut or damaged anywhere', () => {
    const good = dockerLine('fine\n', 'stdout', '2021-02-03T04:05:06.1Z');
    fc.assert(
      fc.property(fc.nat(200), fc.nat(255), fc.boolean(), (at, byte, cut) => {
        const damaged = Buffer.from(dockerLine('a "quoted" \u0001 text\n', 'stderr', '2021-02-03T04:05:06.123456789Z'));
        if (cut) damaged.fill(byte, at % damaged.length);
        else damaged[at % damaged.length] = byte;
        const line = Buffer.concat([damaged.subarray(0, -1), Buffer.from('\n')]);
        const { stdout, stderr, error } = decoded(Buffer.concat([Buffer.from(good), line]));
        assert.ok(stdout.startsWith('fine\n'));
        const parts = line.toString('latin1').split(/(?<=\n)/);
        const slow = parts.map((part) => parseDockerLine(Buffer.from(part, 'latin1')));
        if (error === undefined && slow.every((parsed) => parsed === undefined)) assert.equal(stderr, '');
      }),
    );
  });

  for (const [name, when, shown] of [
    ['the last day of a month', '2021-12-31T23:59:59Z', '2021-12-31T23:59:59.000000000Z'],
    ['a leap day', '2024-02-29T00:00:00.5Z', '2024-02-29T00:00:00.500000000Z'],
    ['another zone', '2021-02-03T06:05:06.5+02:00', '2021-02-03T06:05:06.500000000+02:00'],
    ['a zone that is none', '2021-02-03T06:05:06-00:00', '2021-02-03T06:05:06.000000000Z'],
  ] as const)
    test(`shows ${name}`, () => {
      assert.equal(decoded(dockerLine('x\n', 'stdout', when), { timestamps: true }).stdout, `${shown} x\n`);
    });

  for (const when of [
    '2021-02-29T00:00:00Z',
    '0000-12-31T00:00:00Z',
    '2021-04-31T00:00:00Z',
    '2021-13-01T00:00:00Z',
    '2021-01-01T24:00:00Z',
    '2021-01-01 00:00:00Z',
    'now',
  ])
    test(`leaves out a line of ${when}`, () => {
      const good = dockerLine('fine\n', 'stdout', '2021-02-03T04:05:06.1Z');
      assert.deepEqual(decoded(good + dockerLine('x\n', 'stdout', when)), { stdout: 'fine\n', stderr: '' });
    });

  test('knows field names in any case, and null as nothing, as Go does', () => {
    const good = dockerLine('fine\n', 'stdout', '2021-02-03T04:05:06.1Z');
    const file = `${good}{"LOG":"x\\n","\u017ftream":"stderr","TIME":null}\n{"log":7,"stream":"stdout"}\nnull\n`;
    assert.deepEqual(decoded(file), { stdout: 'fine\n', stderr: 'x\n', error: 'unexpected stream type ""' });
  });

  test('holds pieces of one stream together', () => {
    const line = dockerLine('x\n', 'stdout', '2021-02-03T04:05:06.1Z');
    assert.equal(new LogDecoder(NO_OPTIONS).decode(Buffer.from(line.repeat(100))).length, 1);
    for (const zone of ['Z', '+02:00']) {
      const file = `2021-02-03T04:05:06.1${zone} stdout F x\n`.repeat(100);
      assert.equal(new LogDecoder(NO_OPTIONS).decode(Buffer.from(file)).length, 1);
    }
  });

  test('shows each line whole, and nothing else, behind short ones that timestamps make long', () => {
    const line = dockerLine('fine\n', 'stdout', '2021-02-03T04:05:06.1Z');
    for (let count = 1; count < 100; count++) {
      const file = line + '{"stream":"stdout"}\n'.repeat(count) + line.repeat(2) + '{"log":"end\\n","stream":"stdout"}\n';
      const zero = '0001-01-01T00:00:00.000000000Z ';
      const fine = '2021-02-03T04:05:06.100000000Z fine\n';
      assert.equal(decoded(file, { timestamps: true }).stdout, `${fine}${zero.repeat(count)}${fine.repeat(2)}${zero}end\n`);
    }
  });
});
