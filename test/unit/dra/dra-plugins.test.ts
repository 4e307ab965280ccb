import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { DraDriver } from '../../../src/dra/dra-driver.ts';
import { DraPlugins } from '../../../src/dra/dra-plugins.ts';

const GPU = { name: 'gpu.org', endpoint: '/run/gpu', versions: ['v1.DRAPlugin'] };
const { signal: ever } = new AbortController();

function pluginsUnderTest() {
  const happened: string[] = [];
  const driver = (endpoint: string): DraDriver => ({
    prepare: async () => new Map(),
    unprepare: async () => new Map(),
    reports: undefined,
    stayConnected: async () => void happened.push(`${endpoint} is kept`),
    close: () => void happened.push(`${endpoint} is closed`),
  });
  /** Ends what opens a driver. */
  let opened = (): void => {};
  const listens: ((isConnected: boolean) => void)[] = [];
  const plugins = new DraPlugins({
    open: (_name, _services, endpoint, onChange) => {
      listens.push(onChange);
      return new Promise((resolve) => (opened = () => resolve(driver(endpoint))));
    },
    watch: async () => {},
    onRegistered: (name) => void happened.push(`${name} is registered`),
    onChange: (name, isThere) => void happened.push(`${name} is ${isThere ? '' : 'not '}there`),
  });
  return { plugins, happened, opened: () => opened(), listens };
}

describe('plugins of DRA drivers', () => {
  it('keep nothing of one that went while it was registered', async () => {
    const { plugins, happened, opened } = pluginsUnderTest();
    const gone = new AbortController();
    const registering = plugins.register(GPU, gone.signal);
    gone.abort(new Error('it has gone'));
    await plugins.deregister(GPU);
    opened();
    await assert.rejects(registering, { message: 'it has gone' });
    assert.equal(plugins.has('gpu.org'), false);
    assert.deepEqual(happened, ['gpu.org is not there', '/run/gpu is closed']);
  });

  it('keep nothing of one that comes while they end', async () => {
    const { plugins, happened, opened } = pluginsUnderTest();
    const registering = plugins.register(GPU, ever);
    plugins.close();
    opened();
    await assert.rejects(registering, { message: 'DRA driver gpu.org is not registered: the agent stops' });
    assert.deepEqual(happened, ['/run/gpu is closed']);
  });

  it('are no more than 128, and each is called what the API can call it', async () => {
    const { plugins, opened } = pluginsUnderTest();
    const registered = async (name: string): Promise<void> => {
      const registering = plugins.register({ ...GPU, name }, ever);
      opened();
      await registering;
    };
    for (const name of ['a.org,spec.nodeName=n2', 'a=b', 'a/b', 'a..b', `${'a'.repeat(60)}.org`])
      await assert.rejects(registered(name), /the driver's name/, name);
    for (let i = 0; i < 127; i++) await registered(`${i}.org`);
    await registered(`${'a'.repeat(59)}.org`);
    await assert.rejects(registered('more.org'), { message: 'the node has 128 DRA drivers, and takes no more' });
    await registered('1.org');
    await plugins.deregister({ ...GPU, name: '1.org' });
    await registered('more.org');
  });

  it('hear nothing of a connection of one whose place another has taken', async () => {
    const { plugins, happened, opened, listens } = pluginsUnderTest();
    for (const endpoint of ['/run/gpu', '/run/next']) {
      const registering = plugins.register({ ...GPU, endpoint }, ever);
      opened();
      await registering;
      listens.at(-1)?.(true);
    }
    const before = happened.length;
    listens[0]?.(false);
    assert.deepEqual(happened.slice(before), []);
    listens[1]?.(false);
    assert.deepEqual(happened.slice(before), ['gpu.org is not there']);
  });
});
