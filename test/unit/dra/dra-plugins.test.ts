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
