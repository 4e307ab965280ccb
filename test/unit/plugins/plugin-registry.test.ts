import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, it } from 'node:test';
import type { NamedPlugin, PluginHandler } from '../../../src/ports/plugin-handler.ts';
import type { PluginConnection } from '../../../src/plugins/plugin-connection.ts';
import type { PluginInfo } from '../../../src/plugins/plugin-info.ts';
import { PluginRegistry } from '../../../src/plugins/plugin-registry.ts';
import { abortable } from '../../../src/base/abortable.ts';
import { FakeClock } from '../../fakes/fake-clock.ts';
import { RecordingLogger } from '../../fakes/recording-logger.ts';

const info = (over: Partial<PluginInfo> = {}): PluginInfo => ({
  type: 'CSIPlugin',
  name: 'csi.example.org',
  endpoint: '/run/csi.sock',
  supportedVersions: ['1.0.0'],
  ...over,
});

describe('plugin registry', () => {
  let clock: FakeClock;
  let log: RecordingLogger;
  let answers: Map<string, (signal: AbortSignal) => PluginInfo | Promise<PluginInfo>>;
  let done: string[];
  let register: (plugin: NamedPlugin, signal: AbortSignal) => Promise<void>;
  let deregister: (plugin: NamedPlugin, signal: AbortSignal) => Promise<void>;
  /** What a plugin answers when it is told. */
  let told: () => Promise<void>;
  let registry: PluginRegistry;
  let open = 0;

  const handler = (type: PluginHandler['type']): PluginHandler => ({
    type,
    register: async (plugin, signal) => {
      done.push(`register ${plugin.name} ${plugin.endpoint}`);
      await register(plugin, signal);
    },
    deregister: async (plugin, signal) => {
      done.push(`deregister ${plugin.name} ${plugin.endpoint}`);
      await deregister(plugin, signal);
    },
  });

  const connect = (path: string): PluginConnection => {
    open++;
    return {
      info: async (signal) => {
        done.push(`ask ${path}`);
        const answer = answers.get(path);
        if (!answer) throw new Error('connect ENOENT');
        return answer(signal);
      },
      notify: async (error) => {
        done.push(`tell ${path} ${error || 'registered'}`);
        await told();
      },
      close: () => void open--,
    };
  };

  const there = (...paths: readonly string[]): void => registry.update(new Map(paths.map((path) => [path, 'first'])));
  /** What was done since it was last asked. */
  const news = async (ms = 0): Promise<readonly string[]> => {
    await clock.advance(ms);
    return done.splice(0);
  };
  const hangs = (signal: AbortSignal): Promise<never> => abortable(signal, () => {});

  beforeEach(() => {
    clock = new FakeClock();
    log = new RecordingLogger();
    answers = new Map([['/a', () => info()]]);
    done = [];
    register = async () => {};
    deregister = async () => {};
    told = async () => {};
    registry = new PluginRegistry({ handlers: [handler('CSIPlugin'), handler('DRAPlugin')], clock, log, connect });
  });

  afterEach(async () => {
    await registry.stop();
    assert.equal(open, 0, 'connections left open');
  });

  it('registers, tells the plugin, and deregisters when the socket is gone', async () => {
    there('/a');
    assert.deepEqual(await news(), ['ask /a', 'register csi.example.org /run/csi.sock', 'tell /a registered']);
    there('/a');
    assert.deepEqual(await news(1e6), []);
    there();
    assert.deepEqual(await news(), ['deregister csi.example.org /run/csi.sock']);
    there('/a');
    assert.deepEqual((await news()).at(-1), 'tell /a registered');
  });

  it('takes the socket itself where the plugin names no endpoint', async () => {
    answers.set('/a', () => info({ endpoint: '' }));
    there('/a');
    assert.equal((await news())[1], 'register csi.example.org /a');
  });

  it('deregisters and registers anew what was replaced', async () => {
    there('/a');
    await news();
    registry.update(new Map([['/a', 'second']]));
    assert.deepEqual(await news(), [
      'deregister csi.example.org /run/csi.sock',
      'ask /a',
      'register csi.example.org /run/csi.sock',
      'tell /a registered',
    ]);
  });

  it('registers one anew that did not take that it is registered', async () => {
    told = () => Promise.reject(new Error('not now'));
    there('/a');
    const attempt = ['ask /a', 'register csi.example.org /run/csi.sock', 'tell /a registered', 'deregister csi.example.org /run/csi.sock'];
    assert.deepEqual(await news(), attempt);
    assert.deepEqual(await news(500), attempt);
    told = async () => {};
    assert.deepEqual(await news(1_000), attempt.slice(0, 3));
    assert.deepEqual(await news(1e6), []);
    const said = 'RegisterPlugin error -- failed to send registration status at socket /a, err: not now';
    assert.equal(log.lines.find(({ message }) => message === 'plugin not registered, retrying')?.fields['error'], said);
  });

  it("tries again with the kubelet's delays, and reports each cause once", async () => {
    answers.delete('/a');
    there('/a');
    const asked: number[] = [];
    for (let ms = 0; ms < 400_000; ms += 500) if ((await news(ms === 0 ? 0 : 500)).includes('ask /a')) asked.push(ms);
    assert.deepEqual(asked, [0, 500, 1500, 3500, 7500, 15_500, 31_500, 63_500, 127_500, 249_500, 371_500]);
    assert.equal(log.count('plugin not registered, retrying'), 1);
    answers.set('/a', () => info());
    assert.deepEqual((await news(122_000)).at(-1), 'tell /a registered');
  });

  it('tries at once what was replaced while it waited', async () => {
    answers.delete('/a');
    there('/a');
    await news(100_000);
    answers.set('/a', () => info());
    registry.update(new Map([['/a', 'second']]));
    assert.equal((await news()).at(-1), 'tell /a registered');
  });

  for (const [what, said, error] of [
    [
      'a type that nobody handles',
      { type: 'NoPlugin\n' },
      'RegisterPlugin error -- no handler registered for plugin type: NoPlugin? at socket /a',
    ],
    ['no name', { name: '' }, 'RegisterPlugin error -- plugin validation failed with err: the plugin has no name'],
    [
      'a name that breaks a line',
      { name: 'a\nb' },
      "RegisterPlugin error -- plugin validation failed with err: the plugin's name has characters other than letters, digits, and . : / - _",
    ],
    [
      'a name that is too long',
      { name: 'x'.repeat(318) },
      "RegisterPlugin error -- plugin validation failed with err: the plugin's name has 318 characters, more than the 317 allowed",
    ],
    [
      'an endpoint that is no path',
      { endpoint: 'csi.sock' },
      "RegisterPlugin error -- plugin validation failed with err: the plugin's endpoint must be the absolute path of a socket",
    ],
    [
      'too many versions',
      { supportedVersions: Array.from({ length: 101 }, () => '1') },
      'RegisterPlugin error -- plugin validation failed with err: the plugin lists 101 versions, more than the 100 allowed',
    ],
  ] as const) {
    it(`refuses ${what}, and tells the plugin`, async () => {
      answers.set('/a', () => info(said));
      there('/a');
      assert.deepEqual(await news(), ['ask /a', `tell /a ${error}`]);
      assert.equal(log.lines.at(-1)?.fields.error, error);
    });
  }

  it('tells the plugin why its handler does not take it, and tries again', async () => {
    register = () => Promise.reject(new Error('no such version'));
    there('/a');
    assert.equal((await news()).at(-1), 'tell /a RegisterPlugin error -- plugin registration failed with err: no such version');
    register = async () => {};
    assert.deepEqual((await news(500)).slice(1), ['register csi.example.org /run/csi.sock', 'tell /a registered']);
  });

  it('gives up on a handler that hangs, and takes back what may have come of it', async () => {
    register = () => new Promise(() => {});
    there('/a');
    await news();
    register = async () => {};
    assert.deepEqual(await news(10_500), [
      'tell /a RegisterPlugin error -- plugin registration failed with err: registering plugin csi.example.org took longer than 10 s',
      'deregister csi.example.org /run/csi.sock',
      'ask /a',
      'register csi.example.org /run/csi.sock',
      'tell /a registered',
    ]);
  });

  it('lets the newest plugin of a name take its place, and gives it back when that is gone', async () => {
    answers.set('/b', () => info({ endpoint: '/run/new.sock' }));
    there('/a');
    await news();
    there('/a', '/b');
    assert.deepEqual(await news(), ['ask /b', 'register csi.example.org /run/new.sock', 'tell /b registered']);
    assert.equal(log.count('a plugin is known by this name already: the newest takes its place'), 1);
    there('/a');
    assert.deepEqual(await news(), ['register csi.example.org /run/csi.sock']);
    there('/a', '/b');
    await news();
    there('/b');
    assert.deepEqual(await news(), [], 'what had lost the name says nothing when it goes');
    there();
    assert.deepEqual(await news(), ['deregister csi.example.org /run/new.sock']);
  });

  it('deregisters where the plugin that had the name before is not taken again, and retries that', async () => {
    answers.set('/b', () => info({ endpoint: '/run/new.sock' }));
    there('/a');
    await news();
    there('/a', '/b');
    await news();
    register = () => Promise.reject(new Error('not now'));
    there('/a');
    const after = await news();
    assert.ok(after.includes('deregister csi.example.org /run/new.sock'), after.join('\n'));
    register = async () => {};
    assert.equal((await news(500)).at(-1), 'tell /a registered');
  });

  it('keeps a type and a name apart from the same name of another type', async () => {
    answers.set('/b', () => info({ type: 'DRAPlugin' }));
    there('/a', '/b');
    await news();
    assert.equal(log.count('plugin registered'), 2);
  });

  it('lets no plugin wait for one that hangs, or whose handler hangs', async () => {
    answers.set('/hangs', hangs);
    answers.set('/slow', () => info({ name: 'slow.example.org' }));
    register = ({ name }, signal) => (name === 'slow.example.org' ? hangs(signal) : Promise.resolve());
    there('/hangs', '/slow', '/a');
    assert.ok((await news()).includes('tell /a registered'));
    there('/a');
    assert.deepEqual(await news(), ['deregister slow.example.org /run/csi.sock'], 'what may have been taken is taken back');
  });

  it('calls the handler of one name one after the other', async () => {
    let atOnce = 0;
    let most = 0;
    const busy = async (): Promise<void> => {
      most = Math.max(most, ++atOnce);
      await clock.sleep(100);
      atOnce--;
    };
    register = busy;
    deregister = busy;
    for (const path of ['/b', '/c', '/d']) answers.set(path, () => info());
    there('/a', '/b', '/c', '/d');
    await news(150);
    there('/b');
    await news(5000);
    assert.equal(most, 1);
  });

  it('asks no more than 100 plugins at once', async () => {
    const paths = Array.from({ length: 150 }, (_, index) => `/hangs${index}`);
    for (const path of paths) answers.set(path, hangs);
    there(...paths, '/a');
    assert.equal((await news()).length, 100);
    there('/a');
    assert.equal((await news()).at(-1), 'tell /a registered');
  });

  it('follows a socket that is replaced again and again while its handler hangs without a queue', async () => {
    register = () => new Promise(() => {});
    there('/a');
    await news();
    for (let each = 0; each < 1000; each++) registry.update(new Map([['/a', `number ${each}`]]));
    register = async () => {};
    const all = await news(11_000);
    assert.equal(all.filter((line) => line.startsWith('register')).length, 1);
  });
});
