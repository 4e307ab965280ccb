import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { runConfig } from '../../../src/cli/config.ts';
import { loadOptions } from '../../../src/options/load-options.ts';

const head = 'apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n';
const files: Readonly<Record<string, string>> = {
  '/etc/good.yaml': `${head}maxPods: 50\nstaticPodURL: https://me:hunter2@host/\nstaticPodURLHeader: {Authorization: [hunter2]}\n`,
  '/etc/bad.yaml': `${head}maxPods: many\nkubeAPIQPS: -1\nmaxPodz: 1\n`,
  '/etc/pod.yaml': 'apiVersion: v1\nkind: Pod\n',
  '/etc/d/10.conf': `${head}maxPods: 60\nregistryBurst: 3\n`,
  '/etc/d/20.conf': `${head}registryBurst: 4\n`,
};

async function config(...argv: readonly string[]) {
  const written = { stdout: '', stderr: '' };
  const to = (name: keyof typeof written) => ({ write: (text: string) => (written[name] += text) });
  const status = await runConfig(argv, { stdout: to('stdout'), stderr: to('stderr') }, (flags) =>
    loadOptions(flags, {
      hostname: 'n1',
      terminal: false,
      readFile: async (path) => {
        const text = files[path];
        if (text === undefined) throw new Error('no such file');
        return text;
      },
      listFiles: () => Promise.resolve(['10.conf', '20.conf']),
    }),
  );
  return { status, ...written };
}

describe('rxlet config check', () => {
  test('says that a file is valid', async () => {
    assert.deepEqual(await config('check', '/etc/good.yaml'), { status: 0, stdout: '/etc/good.yaml: valid\n', stderr: '' });
  });

  test('says all that is wrong with files and flags, and what is passed over', async () => {
    const { status, stdout } = await config('check', '/etc/bad.yaml', '/etc/good.yaml', '--port=0', '--max_podz', '5');
    const flag = 'unknown flag --max_podz; did you mean --max-pods?';
    const port = 'invalid configuration: port (--port) 0 must be between 1 and 65535, inclusive';
    assert.equal(status, 1);
    assert.deepEqual(stdout.trimEnd().split('\n'), [
      flag,
      '/etc/bad.yaml:3:10 maxPods: expected a whole number from -2147483648 to 2147483647, found "many"',
      '/etc/bad.yaml:4:13 invalid configuration: kubeAPIQPS (--kube-api-qps) -1 must not be a negative number',
      port,
      '/etc/bad.yaml:5:1 maxPodz: unknown config field is ignored; did you mean maxPods? (warning)',
      flag,
      port,
    ]);
  });

  test('looks at what flags name where no file is given', async () => {
    assert.deepEqual(await config('check', '--config=/etc/good.yaml', '--config-dir=/etc/d'), {
      status: 0,
      stdout: '--config=/etc/good.yaml --config-dir=/etc/d: valid\n',
      stderr: '',
    });
  });

  test('names a file that cannot be read, or holds a pod', async () => {
    assert.deepEqual(await config('check', '/etc/gone', '/etc/pod.yaml'), {
      status: 1,
      stdout:
        'flag --config: cannot read /etc/gone: no such file\n/etc/pod.yaml: expected a KubeletConfiguration, found a pod, or a directory, which --config took as manifests once: rxlet validate checks manifests, and --config-dir=DIR names drop-in files\n',
      stderr: '',
    });
  });

  test('is read by programs as a line of JSON a file', async () => {
    const { stdout } = await config('check', '/etc/bad.yaml', '/etc/good.yaml', '-o', 'json');
    const [bad, good] = stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
    assert.deepEqual([bad.file, bad.valid, bad.problems.length, bad.warnings.length], ['/etc/bad.yaml', false, 2, 1]);
    assert.deepEqual(good, { file: '/etc/good.yaml', valid: true, problems: [], warnings: [] });
  });
});

describe('rxlet config print', () => {
  test('shows what every option is, and where that comes from', async () => {
    const { status, stdout, stderr } = await config('print', '--config=/etc/good.yaml', '--config-dir=/etc/d', '--max_pods=7', '--v=2');
    assert.deepEqual([status, stderr], [0, '']);
    const row = (name: string) => stdout.match(new RegExp(`^${name} +(.*)$`, 'm'))?.[1]?.split(/ {3,}/);
    assert.deepEqual(row('maxPods'), ['7', 'flag --max-pods']);
    assert.deepEqual(row('registryBurst'), ['4', 'drop-in /etc/d/20.conf:3:16']);
    assert.deepEqual(row('syncFrequency'), ['1m0s', 'default']);
    assert.deepEqual(row('staticPodURL'), ['https://me:[redacted]@host/', 'file /etc/good.yaml:4:15']);
    assert.deepEqual(row('staticPodURLHeader'), ['[redacted]', 'file /etc/good.yaml:5:21']);
    assert.deepEqual(row('--hostname-override'), ['n1', 'default']);
    assert.doesNotMatch(stdout, /hunter2/);
  });

  test('and says the same to programs', async () => {
    const { stdout } = await config('print', '--output=json', '--max-pods=7');
    const options: readonly { readonly name: string }[] = JSON.parse(stdout);
    assert.deepEqual(
      options.find(({ name }) => name === 'maxPods'),
      { name: 'maxPods', group: 'Node', value: '7', from: 'flag', at: '--max-pods' },
    );
  });

  test('shows of a very long value the beginning, and to programs all of it', async () => {
    const url = `http://host/${'a'.repeat(100_000)}`;
    const { stdout } = await config('print', `--manifest-url=${url}`);
    assert.match(stdout, /^staticPodURL +http:\/\/host\/a{988}… \(100012 characters: whole with -o json\) +flag --manifest-url$/m);
    assert.ok(stdout.length < 100_000, `${stdout.length}`);
    const options: readonly { readonly name: string; readonly value: string }[] = JSON.parse(
      (await config('print', '-o', 'json', `--manifest-url=${url}`)).stdout,
    );
    assert.equal(options.find(({ name }) => name === 'staticPodURL')?.value, url);
  });

  test('says what is wrong in its place', async () => {
    const { status, stdout, stderr } = await config('print', '--port=x');
    assert.deepEqual([status, stdout], [1, '']);
    assert.match(stderr, /^rxlet: flag --port: expected a whole number/);
  });
});

describe('rxlet config', () => {
  for (const [argv, message] of [
    [[], 'expected check or print, found ""'],
    [['chekc', 'x'], 'expected check or print, found "chekc"'],
    [['check'], 'which file?'],
    [['check', ''], 'which file?'],
    [['check', 'x', '-o', 'xml'], '-o is json or text, not "xml"'],
    [['print', 'x'], 'print takes flags: --config=x'],
  ] as const) {
    test(`is asked for wrongly by ${JSON.stringify(argv)}`, async () => {
      const { status, stdout, stderr } = await config(...argv);
      assert.deepEqual([status, stdout, stderr.split('\n')[0]], [2, '', message]);
    });
  }

  test('says how it is used', async () => {
    for (const argv of [['--help'], ['check', '-h']] as const) {
      const { status, stdout } = await config(...argv);
      assert.equal(status, 0);
      assert.match(stdout, /^Usage: rxlet config check/);
    }
  });
});
