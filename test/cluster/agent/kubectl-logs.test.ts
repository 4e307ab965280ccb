import assert from 'node:assert/strict';
import { test } from 'node:test';
import { app, pod, stays } from '../../integration/agent/pod-specs.ts';
import { describeKubectl } from './describe-kubectl.ts';

const LINES = Array.from({ length: 20 }, (_, at) => `line ${at + 1}\n`);
/** Says what comes through a pipe, and ends with "end". It holds the pipe open itself: else a writer that is slow to close it would end the next read. */
const teller = 'mkfifo /pipe; echo ready; exec 3<>/pipe; while read -r word <&3; do [ "$word" != end ] || exit 0; echo "said $word"; done';

describeKubectl(
  'logs',
  async (node) => {
    const once = { restartPolicy: 'Never' } as const;
    await node.create('talk', pod([app(`for i in $(seq 20); do echo "line $i"; done; ${stays}`)]));
    await node.create('streams', pod([app(`echo out; echo err >&2; ${stays}`)]));
    await node.create('late', pod([app(`echo old; sleep 6; echo new; ${stays}`)]));
    await node.create(
      'two',
      pod([app(`echo from-a; ${stays}`, { name: 'a' }), app(`echo from-b; ${stays}`, { name: 'b' })], {
        initContainers: [app('echo from-init', { name: 'setup' })],
      }),
    );
    await node.create('crash', pod([app('echo "a life"; exit 3')]));
    await node.create('done', pod([app('echo bye')], once));
    await node.create('no-image', pod([app(stays, { image: 'no.such.host.invalid/x:1', imagePullPolicy: 'Never' })]));
    await node.create('no-config', pod([app(stays, { envFrom: [{ configMapRef: { name: 'nope' } }] })]));
    await node.create('blocked', pod([app()], { initContainers: [app(stays, { name: 'setup' })] }));
    await Promise.all(['talk', 'streams', 'late', 'two'].map((name) => node.up(name)));
    await node.phase('done', 'Succeeded');
    await node.becomes('crash', 'restarted', ({ status }) => (status?.containerStatuses?.[0]?.restartCount ?? 0) > 0);
    for (const [name, reason] of [
      ['no-image', 'ErrImageNeverPull'],
      ['no-config', 'CreateContainerConfigError'],
    ] as const)
      await node.becomes(name, reason, ({ status }) => status?.containerStatuses?.[0]?.state?.waiting?.reason === reason);
    await node.becomes('blocked', 'in its setup', ({ status }) => status?.initContainerStatuses?.[0]?.state?.running !== undefined);
  },
  (kubectl) => {
    for (const [flags, expected] of [
      [[], LINES],
      [['--tail=3'], LINES.slice(-3)],
      [['--tail=0'], []],
      [['--tail=-1'], LINES],
      [['--tail=1000'], LINES],
      [['--since=1h', '--tail=2'], LINES.slice(-2)],
      [['--since-time=2020-01-01T00:00:00Z', '--tail=1'], LINES.slice(-1)],
      [['--since-time=2099-01-01T00:00:00Z'], []],
      [['--limit-bytes=10'], ['line 1\nlin']],
      [['--limit-bytes=5', '--tail=2'], ['line ']],
      [['-c', 'app', '--tail=1'], LINES.slice(-1)],
    ] as const) {
      test(`${flags.join(' ') || 'without flags'} prints ${expected.length} of 20 lines`, async () => {
        assert.equal(await kubectl.prints('logs', kubectl.pod('talk'), ...flags), expected.join(''));
      });
    }

    test('has what was written to standard error, too', async () => {
      assert.deepEqual((await kubectl.prints('logs', kubectl.pod('streams'))).split('\n').sort(), ['', 'err', 'out']);
    });

    test('--timestamps says when; --since and --since-time count from there', async (t) => {
      const all = await kubectl.start(t, 'logs', kubectl.pod('late'), '-f', '--timestamps').prints(/^(\S+) old\n(\S+) new\n/);
      const [, old = '', recent = ''] = all;
      assert.match(old, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{5,9}Z$/);
      assert.ok(Date.parse(recent) - Date.parse(old) >= 5_900);
      const ageMs = Date.now() - Date.parse(recent);
      assert.equal(await kubectl.prints('logs', kubectl.pod('late'), `--since=${ageMs + 3_000}ms`), 'new\n');
      const second = new Date(Math.floor(Date.parse(recent) / 1000) * 1000).toISOString();
      assert.equal(await kubectl.prints('logs', kubectl.pod('late'), `--since-time=${second}`), 'new\n');
    });

    test('-f shows what is written from then on, and ends with the container', async (t) => {
      const name = `tells-${kubectl.version.replace('.', '-')}`;
      await kubectl.node.create(name, pod([app(teller)], { restartPolicy: 'Never' }));
      await kubectl.node.up(name);
      const say = (word: string) => kubectl.prints('exec', kubectl.pod(name), '--', 'sh', '-c', `echo ${word} >/pipe`);
      await say('before');
      const all = kubectl.start(t, 'logs', '-f', kubectl.pod(name));
      await all.prints(/^ready\nsaid before\n$/);
      const news = kubectl.start(t, 'logs', '-f', '--tail=0', kubectl.pod(name));
      const last = kubectl.start(t, 'logs', '-f', '--tail=1', '--limit-bytes=20', kubectl.pod(name));
      await last.prints(/^said before\n$/);
      // Nothing shows that a silent one follows, but that it prints from some line on.
      for (let round = 1; !/said/.test(news.stdout); round++) {
        await say(`round-${round}`);
        await all.prints(new RegExp(`said round-${round}\n$`));
      }
      await say('end');
      assert.deepEqual((await all.ended()).code, 0);
      assert.equal((await news.ended()).code, 0);
      // It has seen its 20 bytes long ago.
      assert.deepEqual(await last.ended(), { code: 0, stdout: 'said before\nsaid rou', stderr: '' });
      assert.doesNotMatch(news.stdout, /before/);
      assert.ok(all.stdout.endsWith(news.stdout), news.stdout);
    });

    test('asks which of several containers, and shows any of them, or all, with prefixes', async () => {
      const two = kubectl.pod('two');
      assert.equal(await kubectl.prints('logs', two, '-c', 'b'), 'from-b\n');
      assert.equal(await kubectl.prints('logs', two, '-c', 'setup'), 'from-init\n');
      // Old kubectls ask for them in no order.
      const all = async (...flags: string[]) => (await kubectl.prints('logs', two, '--all-containers', ...flags)).split('\n').sort();
      assert.deepEqual(await all(), ['', 'from-a', 'from-b', 'from-init']);
      assert.deepEqual(await all('--prefix'), ['', `[pod/${two}/a] from-a`, `[pod/${two}/b] from-b`, `[pod/${two}/setup] from-init`]);
    });

    test('-p shows the life before this one', async () => {
      assert.equal(await kubectl.prints('logs', '-p', kubectl.pod('crash')), 'a life\n');
      for (const name of ['talk', 'done']) {
        const { code, stderr } = await kubectl.run('logs', '-p', kubectl.pod(name));
        const complaint = `previous terminated container "app" in pod "${kubectl.pod(name)}" not found`;
        assert.deepEqual([code, stderr], [1, `Error from server (BadRequest): ${complaint}\n`]);
      }
    });

    test('shows what a container wrote that has ended, followed or not', async () => {
      assert.equal(await kubectl.prints('logs', kubectl.pod('done')), 'bye\n');
      assert.equal(await kubectl.prints('logs', '-f', kubectl.pod('done')), 'bye\n');
    });

    for (const [name, reason] of [
      ['no-image', 'ErrImageNeverPull'],
      ['no-config', 'CreateContainerConfigError'],
      ['blocked', 'PodInitializing'],
    ] as const) {
      test(`says of a container that waits for the reason ${reason} that there is no log yet`, async () => {
        const complaint = `container "app" in pod "${kubectl.pod(name)}" is waiting to start: ${reason}`;
        for (const flags of [[], ['-f']]) {
          const { code, stdout, stderr } = await kubectl.run('logs', kubectl.pod(name), '-c', 'app', ...flags);
          assert.deepEqual([code, stdout, stderr], [1, '', `Error from server (BadRequest): ${complaint}\n`]);
        }
      });
    }

    test('refuses a container that does not exist', async () => {
      const { code, stderr } = await kubectl.run('logs', kubectl.pod('talk'), '-c', 'nope');
      assert.equal(code, 1);
      assert.match(stderr, /container nope is not valid for pod/);
    });
  },
);
