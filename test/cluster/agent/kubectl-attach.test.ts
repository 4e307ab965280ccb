import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Terminal } from '../../builders/terminal.ts';
import { app, pod, stays } from '../../integration/agent/pod-specs.ts';
import { describeKubectl } from './describe-kubectl.ts';

const answers = `while read -r word; do echo "got $word"; echo "err $word" >&2; done; echo end; ${stays}`;

describeKubectl(
  'attach',
  async (node) => {
    await node.create('answers', pod([app(answers, { stdin: true })]));
    await node.create('counts', pod([app('i=0; while :; do i=$((i+1)); echo "count $i"; sleep 0.1; done')]));
    await node.create('terminal', pod([app('exec sh', { stdin: true, tty: true })]));
    await node.create('crash', pod([app('exit 3')]));
    await node.create('done', pod([app('exit 0')], { restartPolicy: 'Never' }));
    await Promise.all(['answers', 'counts', 'terminal'].map((name) => node.up(name)));
    await node.phase('done', 'Succeeded');
    await node.becomes('crash', 'ended', ({ status }) => {
      const [of] = status?.containerStatuses ?? [];
      return (of?.restartCount ?? 0) > 1 && of?.state?.waiting !== undefined;
    });
  },
  (kubectl) => {
    test('-i talks with the process; who leaves takes nothing with them, and may come back', async (t) => {
      for (const word of ['first', 'second']) {
        const session = kubectl.start(t, 'attach', '-i', kubectl.pod('answers'));
        // What is written before the session stands still arrives.
        session.write(`${word}\n`);
        await session.prints(new RegExp(`^got ${word}\n$`));
        await session.prints(new RegExp(`^err ${word}$`, 'm'), 'stderr');
        await session.kill();
      }
      assert.equal(kubectl.node.pod('answers')?.status?.containerStatuses?.[0]?.restartCount, 0);
    });

    test('shows what is written from then on, to several at once', async (t) => {
      const sessions = [1, 2].map(() => kubectl.start(t, 'attach', kubectl.pod('counts')));
      for (const session of sessions) {
        const [, first = ''] = await session.prints(/^count (\d+)\n/);
        await session.prints(new RegExp(`^count ${first}\ncount ${Number(first) + 1}\n`));
      }
      assert.ok(!sessions[1]?.stdout.startsWith('count 1\n'));
    });

    test("the end of the input is the process's only with stdinOnce; then the session ends with the container", async () => {
      const name = `once-${kubectl.version.replace('.', '-')}`;
      const reads = app('while read -r word; do echo "got $word"; done; echo end; exit 0', { stdin: true, stdinOnce: true });
      await kubectl.node.create(name, pod([reads], { restartPolicy: 'Never' }));
      await kubectl.node.up(name);
      const { code, stdout } = await kubectl.runOn('a\nb\n', 'attach', '-i', kubectl.pod(name));
      assert.deepEqual([code, stdout], [0, 'got a\ngot b\nend\n']);
      await kubectl.node.phase(name, 'Succeeded');
    });

    test('-it is the terminal of the container; its size follows the window, and it stays for the next one', async (t) => {
      const words = kubectl.words('attach', '-it', kubectl.pod('terminal'));
      for (const [columns, rows] of [
        [90, 30],
        [110, 35],
      ] as const) {
        const terminal = await Terminal.open(t, [...words], { columns, rows });
        await terminal.shows(/press(ing)? (enter|ENTER)/);
        await terminal.type('');
        await terminal.shows(/#$/m);
        await terminal.type(`until [ "$(stty size)" = "${rows} ${columns}" ]; do sleep 0.1; done; echo "is $(stty size)"`);
        await terminal.shows(new RegExp(`^is ${rows} ${columns}$`, 'm'));
        await terminal.resize(100, 25);
        await terminal.type('until [ "$(stty size)" = "25 100" ]; do sleep 0.1; done; echo "now $(stty size)"');
        await terminal.shows(/^now 25 100$/m);
      }
      assert.equal(kubectl.node.pod('terminal')?.status?.containerStatuses?.[0]?.restartCount, 0);
    });

    test('a container that does not run, or does not exist, is named', async () => {
      for (const [name, container, words] of [
        ['answers', 'nope', /container (not found \(nope\)|nope not found)/],
        ['crash', 'app', new RegExp(`container app not found in pod ${kubectl.pod('crash')}_${kubectl.node.namespace}`)],
        ['done', 'app', /cannot attach a container in a completed pod; current phase is Succeeded/],
      ] as const) {
        const { code, stdout, stderr } = await kubectl.run('attach', kubectl.pod(name), '-c', container);
        assert.deepEqual([code, stdout], [1, '']);
        assert.match(stderr, words);
      }
    });
  },
);
