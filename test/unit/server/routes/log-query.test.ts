import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { HttpError } from '../../../../src/ports/route.ts';
import { journalArguments } from '../../../../src/server/routes/journal-arguments.ts';
import { logQuery } from '../../../../src/server/routes/log-query.ts';

const read = (search: string, path = ''): ReturnType<typeof logQuery> => logQuery(new URLSearchParams(search), path);

describe('a log query', () => {
  test('is none without its parameters', () => {
    assert.equal(read(''), undefined);
    assert.equal(read('x=y&tailLines=', 'syslog'), undefined);
  });

  test('names services, or one file', () => {
    const options = { sinceMs: undefined, untilMs: undefined, tailLines: undefined, boot: undefined, pattern: '' };
    assert.deepEqual(read('query=docker&query=%20&query=user@1000'), { services: ['docker', 'user@1000'], options });
    assert.deepEqual(read('query=/syslog'), { file: '/syslog' });
    assert.deepEqual(read('query=a%5Cb.log'), { file: 'a\\b.log' });
  });

  test('has options, which become arguments of journalctl one each', () => {
    const query = read(
      'query=docker&sinceTime=2026-01-02T03:04:05%2B01:00&untilTime=2026-01-02T03:04:05.6Z&tailLines=7&boot=-1&pattern=(%3Fi)fail|%5BE%5D',
    );
    assert.ok(query && 'services' in query);
    assert.deepEqual(journalArguments(query.services, query.options), [
      '--utc',
      '--no-pager',
      '--output=short-precise',
      '--since=2026-01-02 02:04:05 UTC',
      '--until=2026-01-02 03:04:05 UTC',
      '--pager-end',
      '--lines=7',
      '--unit=docker',
      '--grep=(?i)fail|[E]',
      '--boot=-1',
    ]);
    assert.deepEqual(journalArguments(['a'], { pattern: '' }), ['--utc', '--no-pager', '--output=short-precise', '--unit=a']);
  });

  for (const [search, status, message] of [
    ['query=', 400, 'query: Invalid value: [""]: query cannot be empty'],
    ['query=a&sinceTime=yesterday', 400, 'sinceTime: Invalid value: "yesterday": invalid time format'],
    ['query=a&boot=x', 400, 'boot: Invalid value: "x": strconv.Atoi: parsing "x": invalid syntax'],
    [
      'query=a&tailLines=99999999999999999999',
      400,
      'tailLines: Invalid value: "99999999999999999999": strconv.Atoi: parsing "99999999999999999999": value out of range',
    ],
    [
      'query=a&boot=x&tailLines=y',
      400,
      '[boot: Invalid value: "x": strconv.Atoi: parsing "x": invalid syntax, tailLines: Invalid value: "y": strconv.Atoi: parsing "y": invalid syntax]',
    ],
    ['tailLines=5', 406, 'query: Required value: cannot be empty with options'],
    ['query=a&query=/b', 406, 'query: Invalid value: "[/b], [a]": cannot specify a file and service'],
    ['query=/a&query=/b', 406, 'query: Invalid value: ["/a","/b"]: cannot specify more than one file'],
    ['query=/a&boot=0', 406, 'query: Invalid value: ["/a"]: cannot specify file with options'],
    ['query=a;b', 406, 'query: Invalid value: "a;b": input contains unsupported characters'],
    [`query=${'a'.repeat(257)}`, 406, `query: Invalid value: "${'a'.repeat(257)}": length must be less than 100`],
    ['query=a&query=b&query=c&query=d&query=e', 406, 'query: Too many: 5: must have at most 4 items'],
    ['query=a&boot=1', 406, 'boot: Invalid value: 1: must be less than 1'],
    ['query=a&tailLines=100001', 406, 'tailLines: Invalid value: 100001: must be between 0 and 100000, inclusive'],
    ['query=a&tailLines=-1', 406, 'tailLines: Invalid value: -1: must be between 0 and 100000, inclusive'],
    [
      'query=a&sinceTime=2026-01-02T00:00:00Z&untilTime=2026-01-01T00:00:00Z',
      406,
      'untilTime: Invalid value: "2026-01-01T00:00:00.000Z": must be after `sinceTime`',
    ],
  ] as const)
    test(`is refused: ${search.slice(0, 80)}`, () => {
      assert.throws(
        () => read(search),
        (error) => error instanceof HttpError && error.status === status && error.message === `${message}\n`,
      );
    });

  test('is refused below a path, and with a pattern that is none or too long', () => {
    assert.throws(() => read('query=a', 'syslog'), /^Error: path not allowed in query mode/);
    assert.throws(() => read('query=a&pattern=(a'), /pattern: Invalid value: "\(a": error parsing regexp: /);
    assert.throws(() => read(`query=a&pattern=${'a'.repeat(5000)}`), /error parsing regexp: expression too long/);
  });
});
