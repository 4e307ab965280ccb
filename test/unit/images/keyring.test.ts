import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { LogFields, Logger } from '../../../src/base/logger.ts';
import { silentLogger } from '../../../src/base/logger.ts';
import { decodeAuth } from '../../../src/images/decode-auth.ts';
import { parseDockercfg, parseDockerConfigJson } from '../../../src/images/docker-config.ts';
import { globMatches } from '../../../src/base/glob.ts';
import { keyring } from '../../../src/images/keyring.ts';
import { NodeDockerConfig } from '../../../src/images/node-docker-config.ts';
import { parseRegistryLocation } from '../../../src/images/registry-location.ts';
import { aPod } from '../../builders/a-pod.ts';

const { signal } = new AbortController();

const base64 = (text: string): string => Buffer.from(text).toString('base64');

describe('globMatches', () => {
  const cases: readonly (readonly [pattern: string, text: string, matches: boolean])[] = [
    ['', '', true],
    ['*', '', true],
    ['*', 'quay', true],
    ['*', 'a/b', false],
    ['a*b*c', 'aXbYbZc', true],
    ['a*b*c', 'aXbYbZ', false],
    ['*.', 'a', false],
    ['r?g', 'reg', true],
    ['r?g', 'rg', false],
    ['[a-c]', 'b', true],
    ['[a-c]', 'd', false],
    ['[^a-c]', 'd', true],
    ['[!a]', 'b', false],
    ['[\\]]', ']', true],
    ['[]a]', 'a', false],
    ['[-]', '-', false],
    ['[a-]', 'a', false],
    ['[', '[', false],
    ['\\*', '*', true],
    ['\\*', 'a', false],
    ['a\\', 'a', false],
    ['é?', 'é😀', true],
  ];
  for (const [pattern, text, matches] of cases) {
    test(`${JSON.stringify(pattern)} ${matches ? 'matches' : 'does not match'} ${JSON.stringify(text)}`, () => {
      assert.equal(globMatches(pattern, text), matches);
    });
  }
});

describe('parseRegistryLocation', () => {
  const cases: readonly (readonly [text: string, expected: string | undefined])[] = [
    ['quay.io', 'quay.io'],
    ['https://quay.io/v1/', 'quay.io/v1/'],
    ['http://quay.io', 'quay.io'],
    ['HTTPS://quay.io', 'HTTPS://quay.io'] /* the host "HTTPS:", with a path */,
    ['https://me:pw@quay.io/x', 'quay.io/x'],
    ['quay.io/a?b=c', 'quay.io/a'],
    ['quay.io/a#b', 'quay.io/a'],
    ['quay.io/a#\n', 'quay.io/a'],
    ['quay.io/%61', 'quay.io/a'],
    ['quay.io/%zz', undefined],
    ['quay.io#%zz', undefined],
    ['quay.io:5000/x', 'quay.io:5000/x'],
    ['quay.io:*', undefined],
    ['quay.io:http', undefined],
    ['[::1]:5000/x', '[::1]:5000/x'],
    ['[::1', undefined],
    ['a b.io', undefined],
    ['quay.io\n', undefined],
    ['m%41e@quay.io', 'quay.io'],
    ['m e@quay.io', undefined],
    ['quay%41.io', undefined],
    ['', ''],
  ];
  for (const [text, expected] of cases) {
    test(`${JSON.stringify(text)} is ${expected === undefined ? 'no location' : JSON.stringify(expected)}`, () => {
      const location = parseRegistryLocation(text);
      assert.equal(location && location.host + location.path, expected);
    });
  }
});

describe('decodeAuth', () => {
  const good: readonly (readonly [field: string, username: string, password: string])[] = [
    [base64('ann:pw'), 'ann', 'pw'],
    [base64('ann:a:b'), 'ann', 'a:b'],
    ['YWJjOmQ', 'abc', 'd'],
    ['YWJj\r\nOmQ=\n', 'abc', 'd'],
    ['dTpw\n', 'u', 'p'],
  ];
  for (const [field, username, password] of good) {
    test(`${JSON.stringify(field)} is ${username} with ${password}`, () => {
      assert.deepEqual(decodeAuth(field), { username, password });
    });
  }
  const bad: readonly (readonly [field: string, at: number])[] = [
    ['=', 0],
    ['a=', 1],
    ['aa=', 3],
    ['aa=a=', 2],
    ['aa==x=', 4],
    ['dTpw====', 4],
    ['dTpwM', 4],
    ['dTp w', 3],
    ['é', 0],
  ];
  for (const [field, at] of bad) {
    test(`${JSON.stringify(field)} is wrong at byte ${at}`, () => {
      assert.throws(() => decodeAuth(field), { message: `illegal base64 data at input byte ${at}` });
    });
  }
});

describe('docker config texts', () => {
  const wrong: readonly (readonly [parse: typeof parseDockercfg, text: string, message: string])[] = [
    [parseDockerConfigJson, '[]', 'json: cannot unmarshal array into Go value of type credentialprovider.DockerConfigJSON'],
    [
      parseDockerConfigJson,
      '{"auths": true}',
      'json: cannot unmarshal bool into Go struct field DockerConfigJSON.auths of type credentialprovider.DockerConfig',
    ],
    [
      parseDockerConfigJson,
      '{"auths": {"a": "x"}}',
      'json: cannot unmarshal string into Go struct field DockerConfigJSON.auths of type credentialprovider.dockerConfigEntryWithAuth',
    ],
    [
      parseDockerConfigJson,
      '{"auths": {}, "HttpHeaders": {"a": 1}}',
      'json: cannot unmarshal number into Go struct field DockerConfigJSON.HttpHeaders of type string',
    ],
    [parseDockercfg, '{"a": 1}', 'json: cannot unmarshal number into Go value of type credentialprovider.dockerConfigEntryWithAuth'],
    [
      parseDockercfg,
      '{"a": {"username": []}}',
      'json: cannot unmarshal array into Go struct field dockerConfigEntryWithAuth.username of type string',
    ],
    [parseDockercfg, '{"a": {}', 'unexpected end of JSON input'],
  ];
  for (const [parse, text, message] of wrong) {
    test(`${text} is refused: ${message}`, () => {
      assert.throws(() => parse(text), { message });
    });
  }

  test('field names are read in any case, as Go does', () => {
    const [entry] = parseDockerConfigJson('{"AUTHS": {"quay.io": {"Username": "ann", "PASSWORD": "pw"}}}');
    assert.deepEqual(entry, { location: 'quay.io', username: 'ann', password: 'pw' });
    const [folded] = parseDockerConfigJson('{"auth\u017f": {"quay.io": {"u\u017fername": "ann"}}}');
    assert.equal(folded?.username, 'ann');
  });

  test('of fields with one name each counts: registries add up, null leaves a text as it is', () => {
    const auths = (name: string): string => `"auths": {"${name}": {"username": "ann", "username": null}}`;
    const entries = parseDockerConfigJson(`{${auths('quay.io')}, ${auths('gcr.io')}}`);
    assert.deepEqual(
      entries.map(({ location, username }) => [location, username]),
      [
        ['quay.io', 'ann'],
        ['gcr.io', 'ann'],
      ],
    );
    assert.deepEqual(parseDockerConfigJson(`{${auths('quay.io')}, "auths": null}`), []);
  });

  test('the first wrong field is named, in the order of the text', () => {
    assert.throws(
      () => parseDockercfg('{"quay.io": {"password": 1}, "7": 1}'),
      /number into Go struct field dockerConfigEntryWithAuth.password/,
    );
  });

  test('a field that no one knows may hold anything, whatever it is called', () => {
    const [entry] = parseDockercfg('{"quay.io": {"username": "ann", "constructor": {}, "__proto__": 1, "toString": null}}');
    assert.equal(entry?.username, 'ann');
  });
});

describe("the node's own docker config", () => {
  interface Line {
    readonly level: string;
    readonly message: string;
    readonly fields: LogFields | undefined;
  }
  const node = (files: Map<string, string>): { config: NodeDockerConfig; lines: Line[] } => {
    const lines: Line[] = [];
    const log: Logger = {
      ...silentLogger,
      v: (_level, message, fields) => lines.push({ level: 'v', message, fields }),
      warn: (message, fields) => lines.push({ level: 'warn', message, fields }),
    };
    const config = new NodeDockerConfig({ rootDir: '/var/lib/agent', cwd: '/srv/agent', home: '/home/ann' }, log, async (path) => {
      const text = files.get(path);
      if (text === undefined) throw Object.assign(new Error(`no ${path}`), { code: 'ENOENT' });
      return text;
    });
    return { config, lines };
  };
  const json = (username: string): string => JSON.stringify({ auths: { 'quay.io': { username, password: 'hidden' } } });
  const legacy = (username: string): string => JSON.stringify({ 'quay.io': { username, password: 'hidden' } });
  const places: readonly (readonly [path: string, text: string])[] = [
    ['/var/lib/agent/config.json', json('1')],
    ['/srv/agent/config.json', json('2')],
    ['/home/ann/.docker/config.json', json('3')],
    ['/.docker/config.json', json('4')],
    ['/var/lib/agent/.dockercfg', legacy('5')],
    ['/srv/agent/.dockercfg', legacy('6')],
    ['/home/ann/.dockercfg', legacy('7')],
    ['/.dockercfg', legacy('8')],
  ];

  test('its places are searched in order, every config.json before any .dockercfg', async () => {
    const files = new Map(places);
    const { config } = node(files);
    for (const [i, [path]] of places.entries()) {
      const [entry] = await config.entries();
      assert.equal(entry?.username, String(i + 1));
      files.delete(path);
    }
    assert.deepEqual(await config.entries(), []);
  });

  test('a file that does not parse is passed over, and said once', async () => {
    const { config, lines } = node(
      new Map([
        ['/var/lib/agent/config.json', 'nope'],
        ['/srv/agent/config.json', json('2')],
      ]),
    );
    assert.equal((await config.entries())[0]?.username, '2');
    await config.entries();
    assert.equal(lines.filter((l) => l.level === 'warn' && l.message === 'docker config ignored').length, 1);
  });

  test('a changed file counts at the next look', async () => {
    const files = new Map([['/srv/agent/config.json', json('old')]]);
    const { config } = node(files);
    await config.entries();
    files.set('/srv/agent/config.json', json('new'));
    assert.equal((await config.entries())[0]?.username, 'new');
  });

  test('credential helpers are named as not supported, once, and what stands under auths still counts', async () => {
    const text = JSON.stringify({ auths: { 'quay.io': { username: 'ann' } }, credsStore: 'pass', credHelpers: { 'gcr.io': 'gcloud' } });
    const { config, lines } = node(new Map([['/srv/agent/config.json', text]]));
    assert.equal((await config.entries())[0]?.username, 'ann');
    await config.entries();
    const warnings = lines.filter((l) => l.level === 'warn');
    assert.equal(warnings.length, 1);
    assert.deepEqual(warnings[0]?.fields, { path: '/srv/agent/config.json', helpers: ['pass', 'gcloud'] });
  });

  test('no log line holds a password', async () => {
    const { config, lines } = node(new Map(places));
    await config.entries();
    assert.ok(lines.length > 0);
    assert.doesNotMatch(JSON.stringify(lines), /hidden/);
  });

  test('secrets come before the node', async () => {
    const { config } = node(new Map([['/srv/agent/config.json', json('node')]]));
    const data = { '.dockerconfigjson': base64(json('secret')) };
    const metadata = { uid: 'u', namespace: 'n', name: 's', resourceVersion: '1' };
    const secret = { type: 'kubernetes.io/dockerconfigjson', data, metadata };
    const found = await keyring(config).lookup('quay.io/a:1', [secret], aPod('web'), signal);
    assert.deepEqual(
      found.map(({ username, source }) => ({ username, source })),
      [
        { username: 'secret', source: { secret: { uid: 'u', namespace: 'n', name: 's' } } },
        { username: 'node', source: undefined },
      ],
    );
  });
});
