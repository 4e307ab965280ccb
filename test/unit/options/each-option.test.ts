import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { fieldOf, flagsOf, type Kind, type Option } from '../../../src/options/option.ts';
import { allOptions, type OptionName } from '../../../src/options/options-table.ts';
import { parseFlags } from '../../../src/options/parse-flags.ts';
import { readOptions, type ReadOptions } from '../../../src/options/read-options.ts';

/** Three values, as flags have them: of the file, of a drop-in file, of a flag. */
type Samples = readonly [file: string, dropIn: string, flag: string];

const byKind: Readonly<Record<string, Samples>> = {
  bool: ['true', 'false', 'true'],
  int: ['3', '4', '5'],
  int32: ['3', '4', '5'],
  uint: ['3', '4', '5'],
  uint32: ['3', '4', '5'],
  float: ['0.3', '0.4', '0.5'],
  duration: ['3s', '4s', '5s'],
  string: ['/a', '/b', '/c'],
  strings: ['/a,/b', '/c', '/d'],
  ip: ['10.0.0.1', '10.0.0.2', '::1'],
  mapStringString: ['a=1,b=2', 'b=3,c=4', 'd=5'],
  colonSeparatedMultimap: ['A:1,A:2', 'A:3', 'B:4'],
  numbers: ['29', '23,29', '24'],
};

const byName: Partial<Record<OptionName, Samples>> = {
  dockerEndpoint: ['unix:///a', 'unix:///b', 'unix:///c'],
  evictionHard: ['memory.available<1Gi', 'memory.available<2Gi,pid.available<5%', 'nodefs.available<3%'],
  evictionSoft: ['memory.available<1Gi', 'memory.available<2Gi', 'nodefs.available<3%'],
  featureGates: ['MemoryQoS=true', 'QOSReserved=true', 'ComponentFlagz=false'],
  mergeDefaultEvictionSettings: ['false', 'false', 'false'],
  pageAddress: ['127.0.0.1:1', '127.0.0.1:2', '127.0.0.1:3'],
  registerWithTaints: ['a:NoSchedule', 'b=c:NoExecute', 'd:PreferNoSchedule'],
  reservedMemory: ['0:memory=1Gi', '1:memory=2Gi', '0:hugepages-2Mi=4Mi'],
  tlsCipherSuites: ['TLS_AES_128_GCM_SHA256', 'TLS_AES_256_GCM_SHA384', 'TLS_CHACHA20_POLY1305_SHA256'],
  logStandardErrorThreshold: ['INFO', 'WARNING', 'FATAL'],
  tlsMinVersion: ['VersionTLS10', 'VersionTLS11', 'VersionTLS13'],
  vmodule: ['a=1', 'b=2', 'c=3'],
};

/** What has no flag, and no text of its own in one. */
const asWritten: Partial<Record<OptionName, readonly [file: unknown, dropIn: unknown]>> = {
  shutdownGracePeriodByPodPriority: [[{ priority: 1, shutdownGracePeriodSeconds: 2 }], [{ priority: 3, shutdownGracePeriodSeconds: 4 }]],
};

/** Words, of which the last counts again where there are two. */
const ofWords = ({ name }: Kind<unknown>): Samples | undefined => {
  const [one, two, three = one] = name.includes('|') ? name.split('|') : name === 'cni' || name === 'external' ? [name, name, ''] : [];
  return one === undefined || two === undefined || three === undefined ? undefined : [one, two, three];
};

function samplesOf(name: OptionName, { kind }: Option<unknown>): Samples {
  const samples = byName[name] ?? ofWords(kind) ?? byKind[kind.name];
  assert.ok(samples, `${name} is of a kind that has no samples: ${kind.name}`);
  return samples;
}

/** What asks for another thing than running, and what says which files are read. */
const ofThisTest: ReadonlySet<string> = new Set(['help', 'helpAll', 'version', 'configFile', 'configDirectory']);
const options = allOptions.filter(([name]) => !ofThisTest.has(name));
const inFiles = options.filter(([, option]) => fieldOf(option) !== undefined);

const written = (kind: Kind<unknown>, value: unknown): unknown => (kind.write ? kind.write(value) : value);
const valueInFile = (name: OptionName, option: Option<unknown>, at: 0 | 1): unknown =>
  asWritten[name] === undefined ? written(option.kind, option.kind.parse(samplesOf(name, option)[at])) : asWritten[name][at];

/** A KubeletConfiguration, a line a field. */
function configOf(valueOf: (name: OptionName, option: Option<unknown>) => unknown): string {
  const root: Record<string, unknown> = { apiVersion: 'kubelet.config.k8s.io/v1beta1', kind: 'KubeletConfiguration' };
  for (const [name, option] of inFiles) put(root, (fieldOf(option) ?? '').split('.'), valueOf(name, option));
  return JSON.stringify(root, null, 1);
}

function put(into: Record<string, unknown>, [first = '', ...rest]: readonly string[], value: unknown): void {
  if (rest.length === 0) into[first] = value;
  else {
    const there = into[first];
    const inner: Record<string, unknown> = typeof there === 'object' && there !== null ? { ...there } : {};
    into[first] = inner;
    put(inner, rest, value);
  }
}

const flagsWith = (at: 2): readonly string[] =>
  options.flatMap(([name, option]) => (option.flag === undefined ? [] : [`--${option.flag}=${samplesOf(name, option)[at]}`]));

const file = configOf((name, option) => valueInFile(name, option, 0));
const dropIn = configOf((name, option) => valueInFile(name, option, 1));
const read = (argv: readonly string[]): Promise<ReadOptions> =>
  readOptions(
    parseFlags(argv),
    { readFile: async (path) => (path === 'file' ? file : dropIn), listFiles: async () => ['a.conf'] },
    'with files',
  );

const defaults = await read([]);
const ofFile = await read(['--config=file']);
const ofDropIn = await read(['--config=file', '--config-dir=d']);
const ofFlags = await read(flagsWith(2));
const ofAll = await read([...flagsWith(2), '--config=file', '--config-dir=d']);

test('what all of this sets is read without a fault', () => {
  for (const { flags, problems } of [defaults, ofFile, ofDropIn, ofFlags, ofAll]) assert.deepEqual([flags.problems, problems], [[], []]);
});

/** A drop-in file replaces all but maps, whose names it adds to. */
const merged = (below: unknown, above: unknown): unknown =>
  typeof above === 'object' && above !== null && !Array.isArray(above) && typeof below === 'object' ? { ...below, ...above } : above;

for (const [name, option] of options) {
  describe(name, () => {
    const { kind, flag } = option;
    const field = fieldOf(option);
    const values = asWritten[name] ?? [0, 1, 2].map((at) => kind.parse(samplesOf(name, option)[at] ?? ''));

    test('has its default', () => {
      assert.deepEqual([defaults.values[name], defaults.origins[name]], [option.default, 'default']);
    });

    if (field !== undefined) {
      test('is set in the file, and by a drop-in file over it', () => {
        assert.deepEqual([ofFile.values[name], ofFile.origins[name]], [values[0], 'file']);
        assert.equal(ofFile.config.placeOf(field)?.role, 'file');
        assert.deepEqual(ofDropIn.values[name], merged(values[0], values[1]));
        assert.equal(ofDropIn.config.placeOf(field)?.role, 'drop-in');
      });
    }

    if (flag !== undefined) {
      test('is set by its flag, over all files', () => {
        assert.deepEqual([ofFlags.values[name], ofFlags.origins[name]], [values[2], 'flag']);
        const all = name === 'featureGates' ? merged(merged(values[0], values[1]), values[2]) : values[2];
        assert.deepEqual([ofAll.values[name], ofAll.origins[name]], [all, 'flag']);
      });

      test('is set by all of its names', () => {
        for (const other of flagsOf(option)) {
          const { values: given, problems } = parseFlags([`--${other}=${samplesOf(name, option)[2]}`]);
          assert.deepEqual([given[name], problems], [values[2], []], other);
        }
      });
    }
  });
}

const bad = [{ neither: 'a value of any kind' }];

describe('a value of another kind is refused with its place:', async () => {
  const wrong = configOf(() => bad);
  const { problems } = await readOptions(parseFlags(['--config=f']), { readFile: async () => wrong }, 'with files');
  const lines = wrong.split('\n');
  const said = new Map(
    problems.map((problem) => /^f:(\d+):\d+ ([^:[\s]+)/.exec(problem) ?? []).map(([, line, path]) => [path, Number(line)]),
  );

  test('fifty at a time', () => assert.ok(problems.length >= 50, `${problems.length}`));
  for (const [path, line] of said) {
    test(`${path}`, () => assert.match(lines[line - 1] ?? '', new RegExp(`"${path?.split('.').at(-1)}"|neither|\\{`)));
  }
});

/** Lists of objects, in which unknown fields are passed over. */
const objects: ReadonlySet<OptionName> = new Set(['reservedMemory', 'shutdownGracePeriodByPodPriority', 'vmodule']);

describe('a field of another kind is refused by itself, with its place:', () => {
  for (const [name, option] of inFiles) {
    const field = fieldOf(option) ?? '';
    test(field, async () => {
      const root: Record<string, unknown> = { apiVersion: 'kubelet.config.k8s.io/v1beta1', kind: 'KubeletConfiguration' };
      put(root, field.split('.'), objects.has(name) ? [7] : bad);
      const text = JSON.stringify(root, null, 1);
      const { problems } = await readOptions(parseFlags(['--config=f']), { readFile: async () => text }, 'with files');
      assert.ok(problems.length >= 1, `${name} takes ${JSON.stringify(bad)}`);
      const [, line = ''] = /^f:(\d+):\d+ /.exec(problems[0] ?? '') ?? [];
      const fieldAt = text.split('\n').findIndex((each) => each.includes(`"${field.split('.').at(-1)}"`)) + 1;
      assert.ok(Number(line) >= fieldAt && Number(line) <= fieldAt + 2, problems[0]);
    });
  }
});

describe('a word that is no value is refused by the flag:', () => {
  const takesAny = (kind: Kind<unknown>): boolean => {
    try {
      kind.parse('"\u0000');
      return true;
    } catch {
      return false;
    }
  };
  for (const [name, { flag, kind }] of options) {
    if (flag === undefined || takesAny(kind)) continue;
    test(name, () => {
      const { problems, values } = parseFlags([`--${flag}="\u0000`]);
      assert.equal(problems.length, 1);
      assert.ok(problems[0]?.startsWith(`flag --${flag}: expected `), problems[0]);
      assert.deepEqual(values, {});
    });
  }
});
