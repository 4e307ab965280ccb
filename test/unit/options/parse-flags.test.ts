import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { parseFlags } from '../../../src/options/parse-flags.ts';

describe('parseFlags reads', () => {
  for (const [argv, values] of [
    [[], {}],
    [['--manifest-url=http://a/?b=c'], { manifestUrl: 'http://a/?b=c' }],
    [['--manifest-url', 'http://a'], { manifestUrl: 'http://a' }],
    [['--manifest_url=http://a'], { manifestUrl: 'http://a' }],
    [['--manifest-url='], { manifestUrl: '' }],
    [['--manifest-url', '--v'], { manifestUrl: '--v' }],
    [['--runonce'], { runOnce: true }],
    [['--runonce=false'], { runOnce: false }],
    [['--runonce=T', '--v', '3'], { runOnce: true, verbosity: 3 }],
    [['-v', '3'], { verbosity: 3 }],
    [['-v=3'], { verbosity: 3 }],
    [['-v4'], { verbosity: 4 }],
    [['-h'], { help: true }],
    [['--version=raw'], { version: true }],
    [['--registry-qps=1', '--registry-qps=2'], { registryQps: 2 }],
    [['--registry-qps=0x10', '--registry-burst=-010'], { registryQps: 16, registryBurst: -8 }],
    [['--registry-qps=1_000', '--registry-burst=+0b11'], { registryQps: 1000, registryBurst: 3 }],
    [['--sync-frequency=1m30s', '--http-check-frequency=1.5ms'], { syncFrequencyMs: 90_000, httpCheckFrequencyMs: 1.5 }],
    [['--file-check-frequency=0', '--runtime-request-timeout=-1s'], { fileCheckFrequencyMs: 0, runtimeRequestTimeoutMs: -1000 }],
    [['--logging-format=json'], { logFormat: 'json' }],
    [['--log-format=json', '--logging-format=text'], { logFormat: 'text' }],
    [
      ['--manifest-url-header', 'a:hello,b:again, c : wor:ld', '--manifest-url-header', 'b:beautiful'],
      { manifestUrlHeader: { a: ['hello'], b: ['again', 'beautiful'], c: ['wor:ld'] } },
    ],
  ] as const) {
    test(JSON.stringify(argv), () => {
      const { values: read, idle, problems } = parseFlags(argv);
      assert.deepEqual([read, idle, problems], [values, new Map(), []]);
    });
  }
});

describe('parseFlags refuses', () => {
  for (const [argv, problems] of [
    [['--manifest-ulr=x'], ['unknown flag --manifest-ulr; did you mean --manifest-url?']],
    [['--manifest_ulr', 'http://a', '--v=1'], ['unknown flag --manifest_ulr; did you mean --manifest-url?']],
    [['-manifest-url=x'], ['unknown flag -manifest-url; did you mean --manifest-url?']],
    [['--manifests=a'], ['unknown flag --manifests; the nearest flag is --manifest-url']],
    [['--zzzzzzzzzz'], ['unknown flag --zzzzzzzzzz; the nearest flag is --healthz-port']],
    [['-x'], ['unknown flag -x; the nearest flag is --max-pods']],
    [['--'], ['unexpected argument "--"']],
    [['-'], ['unexpected argument "-"']],
    [['--runonce', 'false'], ['unexpected argument "false"; did you mean --runonce=false?']],
    [['manifest-url=http://a'], ['unexpected argument "manifest-url=http://a"; did you mean --manifest-url?']],
    [['--runonce', 'root_dir'], ['unexpected argument "root_dir"; did you mean --root-dir?']],
    [
      ['validat', 'pod.yaml', '--v=x'],
      [
        'unexpected argument "validat"; did you mean rxlet validate?',
        'flag --v: expected a whole number from -2147483648 to 2147483647, found "x"',
      ],
    ],
    [['--runonce', 'validat'], ['unexpected argument "validat"; did you mean rxlet validate?']],
    [['--manifest-url'], ['flag --manifest-url needs a value: expected a string']],
    [['--runonce=maybe'], ['flag --runonce: expected true or false, found "maybe"']],
    [['--sync-frequency=60'], ['flag --sync-frequency: expected a duration such as 1m30s or 500ms, found "60"']],
    [['--v=2147483648'], ['flag --v: expected a whole number from -2147483648 to 2147483647, found "2147483648"']],
    [['-v=1.5'], ['flag -v: expected a whole number from -2147483648 to 2147483647, found "1.5"']],
    [['--log-format=xml'], ['flag --log-format: expected json or text, found "xml"']],
    [['--manifest-url-header=Bearer sesame'], ['flag --manifest-url-header: expected pairs such as Name:value,Other:value']],
    [['--max-pods=many'], ['flag --max-pods: expected a whole number from -2147483648 to 2147483647, found "many"']],
    [
      ['--docker-endpoint=localhost:2375'],
      ['flag --docker-endpoint: expected unix:///PATH or tcp://HOST:PORT or fake://, found "localhost:2375"'],
    ],
    [['--address=here'], ['flag --address: expected an IP address, found "here"']],
    [
      ['--manifest-ulr=x', '--runonce=maybe'],
      ['unknown flag --manifest-ulr; did you mean --manifest-url?', 'flag --runonce: expected true or false, found "maybe"'],
    ],
  ] as const) {
    test(JSON.stringify(argv), () => {
      assert.deepEqual(parseFlags(argv).problems, problems);
    });
  }
});

test("a kubelet's present command line is accepted, each flag that decides nothing named once", () => {
  const parsed = parseFlags([
    '--kubeconfig=/etc/kubernetes/kubelet.conf',
    '--network-plugin=cni',
    '--cluster-dns=10.0.0.10',
    '--cluster-dns=10.0.0.11',
    '--feature-gates=A=true,B=false',
    '--eviction-hard=memory.available<1Gi,nodefs.available<10%',
    '--node-labels=a=b',
    '--cgroup-driver=systemd',
    '--fail-swap-on=false',
    '--container-runtime-endpoint',
    'unix:///run/x.sock',
    '--log-backtrace-at=a.go:1',
  ]);
  assert.deepEqual(parsed.problems, []);
  assert.deepEqual(
    [...parsed.idle.keys()].map(({ flag }) => flag),
    ['log-backtrace-at'],
  );
});
