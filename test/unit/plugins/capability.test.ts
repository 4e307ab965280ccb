import assert from 'node:assert/strict';
import { chmod, mkdir, mkdtemp, rename, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { firstValueFrom, Subject } from 'rxjs';
import { capability } from '../../../src/plugins/capability.ts';
import { Registration } from '../../../src/plugins/api/registration_pb.js';
import type { MetricText } from '../../../src/ports/metric-text.ts';
import { nodeUnderTest, type NodeUnderTest, nothingGiven, runServices } from '../../builders/node-parts.ts';
import { RegisteringPlugin } from '../../fakes/registering-plugin.ts';

describe('plugin registration', () => {
  let rootDir: string;
  let directory: string;
  let test: NodeUnderTest;
  let stop: () => Promise<void>;
  const plugins: RegisteringPlugin[] = [];
  const done = new Subject<string>();
  let text: MetricText | undefined;

  const start = (): void => {
    test = nodeUnderTest({ options: { rootDir } });
    const plugin = {
      type: 'DRAPlugin' as const,
      register: async ({ name }: { readonly name: string }) => done.next(`register ${name}`),
      deregister: async ({ name }: { readonly name: string }) => done.next(`deregister ${name}`),
    };
    const { services, metricTexts } = capability(test.node);
    [text] = metricTexts ?? [];
    stop = runServices(services, { ...nothingGiven, plugins: [plugin] }).stop;
  };
  /** Resolves with what the handler is asked to do next. */
  const next = async (cause: () => unknown): Promise<string> => {
    const heard = firstValueFrom(done);
    await cause();
    return test.clock.until(heard);
  };
  const listen = async (name: string, path = name): Promise<RegisteringPlugin> => {
    const plugin = await RegisteringPlugin.listen(join(directory, path), {
      type: 'DRAPlugin',
      name,
      endpoint: `/run/${name}.sock`,
      supportedVersions: ['v1.DRAPlugin'],
    });
    plugins.push(plugin);
    return plugin;
  };

  beforeEach(async () => {
    rootDir = await mkdtemp(join(tmpdir(), 'rxlet-plugins-'));
    directory = join(rootDir, 'plugins_registry');
    await mkdir(directory);
  });

  afterEach(async () => {
    await stop();
    for (const plugin of plugins.splice(0)) await plugin[Symbol.asyncDispose]();
    await rm(rootDir, { recursive: true });
  });

  it('makes its directory, and takes a socket that comes, goes and comes again', async () => {
    await rm(directory, { recursive: true });
    start();
    await test.clock.until(waitFor(() => stat(directory)));
    assert.equal((await stat(directory)).mode & 0o777, 0o750);
    assert.equal(await next(() => listen('a.org')), 'register a.org');
    assert.equal(await next(() => rm(join(directory, 'a.org'))), 'deregister a.org');
    assert.equal(await next(() => listen('a.org')), 'register a.org');
  });

  it('counts the sockets that are registered, and those that are to be', async () => {
    start();
    const counted = async (): Promise<readonly string[]> =>
      ((await text?.(new AbortController().signal)) ?? '').split('\n').filter((line) => line.startsWith('plugin_manager'));
    assert.deepEqual(await counted(), []);
    const plugin = await listen('a.org');
    await test.clock.until(firstValueFrom(plugin.tellings));
    const of = (state: string): string =>
      `plugin_manager_total_plugins{socket_path="${join(directory, 'a.org')}",state="${state}_state_of_world"} 1`;
    assert.deepEqual(await counted(), [of('actual'), of('desired')]);
    await next(() => rm(join(directory, 'a.org')));
    assert.deepEqual(await counted(), []);
  });

  it('takes what is there at the start, in directories below and by links; not what begins with a dot or is no socket', async () => {
    await mkdir(join(directory, 'below/.hidden'), { recursive: true });
    await listen('below.org', 'below/below.org');
    await listen('hidden.org', 'below/.hidden/hidden.org');
    await listen('dot.org', '.dot.org');
    await listen('linked.org', '../linked.org');
    await symlink(join(rootDir, 'linked.org'), join(directory, 'link'));
    await symlink('/nowhere', join(directory, 'dangling'));
    await symlink(directory, join(directory, 'loop'));
    await writeFile(join(directory, 'file.sock'), '');
    const heard: string[] = [];
    done.subscribe((line) => heard.push(line));
    start();
    await test.clock.until(waitFor(() => assert.equal(heard.length, 2)));
    assert.equal(await next(() => listen('last.org')), 'register last.org');
    assert.deepEqual(heard.toSorted(), ['register below.org', 'register last.org', 'register linked.org']);
  });

  it('hears of sockets in directories that come later', async () => {
    start();
    await mkdir(join(directory, 'later'));
    assert.equal(await next(() => listen('a.org', 'later/a.org')), 'register a.org');
    assert.equal(await next(() => rm(join(directory, 'later'), { recursive: true })), 'deregister a.org');
  });

  it('registers anew what another plugin took the place of, and not what was given another mode', async () => {
    start();
    await next(() => listen('a.org'));
    await chmod(join(directory, 'a.org'), 0o777);
    assert.equal(await next(() => listen('b.org')), 'register b.org');
    assert.equal(await next(() => listen('a.org')), 'deregister a.org');
    assert.equal(await next(() => {}), 'register a.org');
  });

  it('goes on when its directory is removed', async () => {
    start();
    await next(() => listen('a.org'));
    assert.equal(await next(() => rename(directory, `${directory}.old`)), 'deregister a.org');
    assert.equal(await next(() => listen('b.org')), 'register b.org');
  });

  it('lets one that hangs, floods, or speaks something else be tried again, and others not wait', async () => {
    start();
    const hangs = await listen('hangs.org');
    hangs.server.on(Registration.method.getInfo, () => {});
    const floods = await listen('floods.org');
    floods.server.on(Registration.method.getInfo, (call) => {
      for (let each = 0; each < 1000; each++) call.send({ name: 'x'.repeat(1000) });
    });
    const lies = await listen('lies.org');
    lies.server.on(Registration.method.getInfo, (call) => call.sendBytes(Buffer.alloc(1 << 20, 'x')));
    const dies = await listen('dies.org');
    dies.server.on(Registration.method.getInfo, (call) => call.hangUp());
    const large = await listen('large.org');
    large.server.answer(Registration.method.getInfo, () => ({ name: 'x'.repeat(65 << 10) }));
    assert.equal(await next(() => listen('good.org')), 'register good.org');
    await test.clock.until(waitFor(() => assert.equal(test.log.count('plugin not registered, retrying'), 5)));
    hangs.server.answer(Registration.method.getInfo, () => ({ type: 'DRAPlugin', name: 'hangs.org' }));
    assert.equal(await next(() => {}), 'register hangs.org');
  });

  it('says nothing and sets no timer while there is nothing to do', async () => {
    start();
    await next(() => listen('a.org'));
    await test.clock.until(waitFor(() => assert.equal(test.clock.actions.length, 0)));
    assert.equal(test.log.lines.filter(({ level }) => level !== 'info').length, 0);
  });

  it('looks at no more than 1000 sockets, those that were there before first', async () => {
    start();
    await next(() => listen('first.org'));
    await Promise.all(Array.from({ length: 1001 }, (_, index) => symlink(join(directory, 'first.org'), join(directory, `${index}`))));
    await test.clock.until(test.log.next('not all of the directory of plugins is looked at'));
    assert.equal(test.log.count('plugin deregistered'), 0);
  });
});

/** Polls by the event loop, which the fake clock's owner turns. */
async function waitFor(holds: () => unknown): Promise<void> {
  for (;;) {
    try {
      await holds();
      return;
    } catch {
      await new Promise((again) => setImmediate(again));
    }
  }
}
