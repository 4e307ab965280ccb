import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, copyFileSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { after, describe, test } from 'node:test';
import { version } from '../../../src/base/version.ts';

const launcher = resolve(import.meta.dirname, '../../../bin/rxlet');
const scratch = mkdtempSync(join(tmpdir(), 'rxlet-cli-'));
after(() => rmSync(scratch, { recursive: true, force: true }));

/** A directory for PATH whose `node` says that it is of some version, and fails at all else. */
function nodeOfVersion(version: string): string {
  const directory = mkdtempSync(join(scratch, 'path-'));
  writeFileSync(join(directory, 'node'), `#!/bin/sh\n[ "$1" = --version ] && echo ${version}\n`);
  chmodSync(join(directory, 'node'), 0o755);
  return directory;
}

/** The system's tools without any `node`. */
function toolsOnly(): string {
  const directory = mkdtempSync(join(scratch, 'tools-'));
  for (const tool of ['readlink', 'uname', 'dirname']) {
    const { stdout } = spawnSync('/bin/sh', ['-c', `command -v ${tool}`], { encoding: 'utf8' });
    symlinkSync(stdout.trim(), join(directory, tool));
  }
  return directory;
}

/** The launcher in a package whose program prints the version of the Node that runs it. */
function installAt(packageRoot: string): string {
  mkdirSync(join(packageRoot, 'bin'), { recursive: true });
  mkdirSync(join(packageRoot, 'dist'));
  copyFileSync(launcher, join(packageRoot, 'bin/rxlet'));
  writeFileSync(join(packageRoot, 'dist/rxlet.js'), 'console.log(process.version, ...process.argv.slice(2))');
  return join(packageRoot, 'bin/rxlet');
}

function run(program: string, argv: readonly string[], path: string) {
  // What is taken to be right starts an agent, which goes on.
  const { status, stdout, stderr } = spawnSync(program, argv, { encoding: 'utf8', env: { PATH: path, HOME: scratch }, timeout: 60_000 });
  return { status, stdout, stderr };
}

describe('the launcher', () => {
  test("runs on the package's own Node where PATH has Node 20 first", () => {
    assert.deepEqual(run(launcher, ['--version'], `${nodeOfVersion('v20.20.2')}:${toolsOnly()}`), {
      status: 0,
      stdout: `rxlet v${version()}\n`,
      stderr: '',
    });
  });

  test('finds its package through symbolic links, relative ones too', () => {
    const links = mkdtempSync(join(scratch, 'links-'));
    symlinkSync(launcher, join(links, 'first'));
    symlinkSync('first', join(links, 'second'));
    assert.equal(run(join(links, 'second'), ['--version'], toolsOnly()).stdout, `rxlet v${version()}\n`);
    symlinkSync(launcher, join(links, 'kubelet'));
    assert.equal(run(join(links, 'kubelet'), ['--version'], toolsOnly()).stdout, 'Kubernetes v1.36.2\n');
  });

  test('finds a Node that npm hoisted above the package, past blanks in the path', () => {
    const root = join(scratch, 'an app');
    const program = installAt(join(root, 'node_modules/rxlet'));
    const arch = process.arch === 'arm64' ? 'arm64' : 'x64';
    const bin = join(root, `node_modules/node-linux-${arch}/bin`);
    mkdirSync(bin, { recursive: true });
    symlinkSync(process.execPath, join(bin, 'node'));
    assert.deepEqual(run(program, ['a b', '--c'], toolsOnly()), { status: 0, stdout: `${process.version} a b --c\n`, stderr: '' });
  });

  test('takes the Node on PATH where it is new enough', () => {
    const path = mkdtempSync(join(scratch, 'new-'));
    symlinkSync(process.execPath, join(path, 'node'));
    const program = installAt(mkdtempSync(join(scratch, 'package-')));
    assert.equal(run(program, [], `${path}:${toolsOnly()}`).stdout, `${process.version}\n`);
  });

  test('names an old Node that is the only one', () => {
    const program = installAt(mkdtempSync(join(scratch, 'package-')));
    const path = nodeOfVersion('v20.20.2');
    const { status, stderr } = run(program, [], `${path}:${toolsOnly()}`);
    assert.equal(status, 1);
    assert.match(stderr, /^rxlet: needs Node\.js 24 or newer, and .*\/node is v20\.20\.2: .*install Node\.js 24\n$/);
  });

  test('says so where there is no Node', () => {
    const program = installAt(mkdtempSync(join(scratch, 'package-')));
    const { status, stderr } = run(program, [], toolsOnly());
    assert.equal(status, 1);
    assert.match(stderr, /^rxlet: needs Node\.js 24 or newer, and there is no node on PATH: /);
  });
});

describe('the command line', () => {
  const path = process.env['PATH'] ?? '';

  test('prints help', () => {
    const { status, stdout, stderr } = run(launcher, ['-h'], path);
    assert.deepEqual([status, stderr], [0, '']);
    assert.match(stdout, /^rxlet runs .*--pod-manifest-path string\n/s);
  });

  test('names every fault and exits with 2', () => {
    assert.deepEqual(run(launcher, ['--manifest-ulr=x', '--runonce=maybe'], path), {
      status: 2,
      stdout: '',
      stderr:
        'rxlet: unknown flag --manifest-ulr; did you mean --manifest-url?\n' +
        'rxlet: flag --runonce: expected true or false, found "maybe"\n' +
        "Run 'rxlet --help' for the flags.\n",
    });
  });

  test('hands validate to its command', () => {
    const file = join(scratch, 'pod.yaml');
    writeFileSync(file, 'apiVersion: v1\nkind: Pod\nmetadata: {name: web}\nspec: {containers: [{name: a, image: busybox}]}\n');
    assert.deepEqual(run(launcher, ['validate', file], path), { status: 0, stdout: `${file}: valid\n`, stderr: '' });
    assert.equal(run(launcher, ['validate'], path).status, 2);
  });

  for (const [argv, fault] of [
    [['manifest-url=http://a/'], 'unexpected argument "manifest-url=http://a/"; did you mean --manifest-url?'],
    [['--runonce', 'true'], 'unexpected argument "true"; did you mean --runonce=true?'],
    [['validte', 'pod.yaml'], 'unexpected argument "validte"; did you mean rxlet validate?'],
    [['--docker-endpoint=here'], 'flag --docker-endpoint: expected unix:///PATH or tcp://HOST:PORT or fake://, found "here"'],
  ] as const) {
    test(`rxlet ${argv.join(' ')} says what was meant`, () => {
      const { status, stdout, stderr } = run(launcher, argv, path);
      assert.deepEqual([status, stdout, stderr], [2, '', `rxlet: ${fault}\nRun 'rxlet --help' for the flags.\n`]);
    });
  }

  test('validate tells of each file, as text or JSON, and by its exit code', () => {
    const directory = mkdtempSync(join(scratch, 'manifests-'));
    const good = 'apiVersion: v1\nkind: Pod\nmetadata: {name: web}\nspec: {containers: [{name: a, image: busybox}]}\n';
    writeFileSync(join(directory, 'a.yaml'), good.replace('}]}', '}], restartPolicy: Mostly}'));
    writeFileSync(join(directory, 'b.yaml'), good);
    writeFileSync(join(directory, 'b.yaml~'), 'nonsense');
    assert.deepEqual(run(launcher, ['validate', directory], path), {
      status: 1,
      stdout:
        `${directory}/a.yaml:4:64 spec.restartPolicy: Unsupported value: "Mostly": supported values: "Always", "OnFailure", "Never"\n` +
        `${directory}/b.yaml: valid\n`,
      stderr: '',
    });
    const { status, stdout } = run(launcher, ['validate', '--output=json', directory], path);
    const [first, second, ...more] = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    assert.equal(status, 1);
    assert.deepEqual(first, {
      file: `${directory}/a.yaml`,
      valid: false,
      errors: [
        {
          type: 'FieldValueNotSupported',
          field: 'spec.restartPolicy',
          detail: 'supported values: "Always", "OnFailure", "Never"',
          line: 4,
          column: 64,
        },
      ],
    });
    assert.deepEqual([second, more], [{ file: `${directory}/b.yaml`, valid: true, errors: [] }, []]);
    symlinkSync('nothing', join(directory, 'c.yaml'));
    assert.equal(run(launcher, ['validate', directory], path).status, 2);
  });

  test('a config file that is wrong is placed, and exits with 2', () => {
    const file = join(scratch, 'kubelet.yaml');
    writeFileSync(file, 'apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\nsyncFrequency: soon\n');
    const { status, stderr } = run(launcher, ['--config', file], path);
    assert.equal(status, 2);
    assert.match(stderr, /kubelet\.yaml:3:16 syncFrequency: expected a duration such as 1m30s or 500ms, found "soon"\n/);
  });

  test('a config file that is a pipe, a directory of drop-in files or far too large is refused at once', () => {
    const [pipe, large, dropIns] = [join(scratch, 'pipe'), join(scratch, 'large'), join(scratch, 'kubelet.conf.d')];
    mkdirSync(dropIns);
    writeFileSync(join(dropIns, '10.conf'), '');
    assert.equal(spawnSync('mkfifo', [pipe]).status, 0);
    writeFileSync(large, '');
    truncateSync(large, 100 * 2 ** 20);
    for (const [file, why] of [
      [pipe, 'it is a pipe, not a file'],
      [dropIns, 'it is a directory, not a file'],
      [large, 'it is larger than 1048576 bytes'],
    ] as const) {
      assert.deepEqual(run(launcher, ['--config', file], path), {
        status: 2,
        stdout: '',
        stderr: `rxlet: flag --config: cannot read ${file}: ${why}\nRun 'rxlet --help' for the flags.\n`,
      });
    }
  });

  test('files of --config-dir are read from the file system, each with its place', () => {
    const directory = mkdtempSync(join(scratch, 'kubelet.conf.d-'));
    mkdirSync(join(directory, 'sub'));
    const head = 'apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n';
    writeFileSync(join(directory, 'sub/a.conf'), `${head}imageGCLowThresholdPercent: 90\n`);
    writeFileSync(join(directory, 'b.conf'), `${head}imageGCHighThresholdPercent: 85\n`);
    writeFileSync(join(directory, 'notes'), 'passed over');
    const { status, stderr } = run(launcher, ['--config-dir', directory], path);
    assert.equal(status, 2);
    assert.match(stderr, /imageGCLowThresholdPercent \(--image-gc-low-threshold\) 90 must be less than .* 85\n/);
  });

  test('where anything is wrong, all of it is said at once, and nothing is made', () => {
    const directory = mkdtempSync(join(scratch, 'wrong-'));
    const at = (name: string): string => join(directory, name);
    const head = 'apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n';
    mkdirSync(at('d'));
    writeFileSync(at('f'), `${head}readOnlyPort: -1\nmaxPods: many\nfeatureGates: {Nope: true, NodeSwap: maybe}\n`);
    writeFileSync(at('d/1.conf'), `${head}registryBurst: x\noomScoreAdj: 2000\n`);
    writeFileSync(at('d/2.conf'), `${head}cgroupDriver: openrc\n`);
    const made = ['root-dir', 'lock-file', 'cert-dir', 'record', 'log-dir', 'pod-manifest-path', 'volume-plugin-dir', 'dynamic-config-dir'];
    const argv = [
      '--docker-endpoint=fake://',
      `--config=${at('f')}`,
      `--config-dir=${at('d')}`,
      '--logtostderr=false',
      ...made.map((flag) => `--${flag}=${at(flag)}`),
      '--port=x',
      '--nope',
      '--feature-gates=AlsoNope=true',
      '--kube-api-qps=-1',
      `--kubeconfig=${at('nope')}`,
    ];
    const before = readdirSync(directory, { recursive: true });
    const { status, stdout, stderr } = run(launcher, argv, path);
    assert.deepEqual([status, stdout], [2, '']);
    const said = stderr.replaceAll(directory, 'D').split('\n');
    for (const [line, what] of [
      '--port',
      '--nope',
      'AlsoNope',
      'flag --kubeconfig: kubeconfig D/nope does not exist',
      'D/f:3:15 .*readOnlyPort',
      'D/f:4:10 maxPods',
      'D/f:5:22 .*Nope',
      'D/f:5:38 .*NodeSwap',
      'D/d/1.conf:3:16 registryBurst',
      'D/d/1.conf:4:14 .*oomScoreAdj',
      'D/d/2.conf:3:15 .*cgroupDriver',
      'kubeAPIQPS',
      'for the flags',
    ].entries())
      assert.match(said[line] ?? '', new RegExp(what), stderr);
    assert.deepEqual(readdirSync(directory, { recursive: true }), before);
  });

  test('a cache directory that cannot be made is no hindrance', () => {
    const blocked = join(scratch, 'a-file');
    writeFileSync(blocked, '');
    const { status, stdout } = spawnSync(launcher, ['--version'], { encoding: 'utf8', env: { PATH: path, XDG_CACHE_HOME: blocked } });
    assert.deepEqual([status, stdout], [0, `rxlet v${version()}\n`]);
  });
});

test('the agent logs JSON away from a terminal, warns of flags without effect, and ends with 0 on SIGTERM', async () => {
  const argv = ['--docker-endpoint=fake://', `--root-dir=${join(scratch, 'root')}`, '--housekeeping-interval=10s'];
  const agent = spawn(launcher, argv, { stdio: ['ignore', 'ignore', 'pipe'], env: { PATH: process.env['PATH'], HOME: scratch } });
  let log = '';
  for await (const chunk of agent.stderr.setEncoding('utf8')) {
    log += chunk;
    if (log.includes('"msg":"starting"') && !agent.killed) agent.kill('SIGTERM');
  }
  const [code, signal] = agent.exitCode === null ? await once(agent, 'exit') : [agent.exitCode, null];
  assert.deepEqual([code, signal], [0, null]);
  const records = log
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  const warning = records.find(({ level }) => level === 'warning');
  assert.match(warning.msg, /^option has no meaning on this node: it is for the cAdvisor inside of a kubelet/);
  assert.equal(warning.option, '--housekeeping-interval');
  assert(records.some(({ msg }) => msg === 'signal, stopping; again to exit at once'));
});
