import assert from 'node:assert/strict';
import { test } from 'node:test';
import { NEVER } from 'rxjs';
import { gather } from '../../../src/agent/gather.ts';
import type { Happenings } from '../../../src/ports/happenings.ts';
import type { Capability } from '../../../src/ports/capability.ts';
import type { Contribution } from '../../../src/ports/contribution.ts';
import { aPod, aContainer } from '../../builders/a-pod.ts';
import { nodeUnderTest } from '../../builders/node-parts.ts';

const capability = (name: string, contribution: () => Contribution | Promise<Contribution>, wanted = true): Capability => ({
  name,
  wanted: () => wanted,
  load: async () => ({ capability: contribution }),
});
const { node } = nodeUnderTest();
const { signal } = new AbortController();

test('what the options do not want is neither loaded nor built', async () => {
  const unwanted: Capability = { name: 'gpu', wanted: () => false, load: () => assert.fail('loaded') };
  const { participants } = await gather([unwanted, capability('volumes', () => ({ pod: {} }))], node.options, node, () => {});
  assert.deepEqual(
    participants.map(({ name }) => name),
    ['volumes'],
  );
});

test('contributions keep the order of the list, whichever is loaded or built first', async () => {
  const built: string[] = [];
  const slow = Promise.withResolvers<void>();
  const list = [
    capability('a', async () => {
      await slow.promise;
      built.push('a');
      return { pod: {}, sources: [{ name: 'file', snapshots: NEVER }] };
    }),
    capability('b', () => {
      built.push('b');
      return { pod: {}, sources: [{ name: 'http', snapshots: NEVER }] };
    }),
  ];
  const gathered = gather(list, node.options, node, () => {});
  slow.resolve();
  const { participants, sources } = await gathered;
  assert.deepEqual(built, ['a', 'b']);
  assert.deepEqual(
    [participants, sources].map((each) => each.map(({ name }) => name)),
    [
      ['a', 'b'],
      ['file', 'http'],
    ],
  );
});

test('a capability that cannot be built is named', async () => {
  const broken = capability('volumes', () => Promise.reject(new Error('no space left on device')));
  await assert.rejects(
    gather([broken], node.options, node, () => {}),
    (error: Error) => error.message === 'volumes cannot be set up' && (error.cause as Error).message === 'no space left on device',
  );
});

test('listeners hear what capabilities after them do', async () => {
  const heard: string[] = [];
  const listeners: Partial<Happenings>[] = [];
  const list = [
    capability('metrics', () => ({ listener: { noted: ({ message }) => void heard.push(message) } })),
    capability('images', () => {
      for (const listener of listeners) listener.noted?.({ uid: aPod('a').metadata.uid, message: 'pulling', fields: {} });
      return {};
    }),
  ];
  await gather(list, node.options, node, (listener) => void listeners.push(listener));
  assert.deepEqual(heard, ['pulling']);
});

test('without capabilities there are no probes and hooks, and an image is what its container names', async () => {
  const { images, probes, hooks } = await gather([], node.options, node, () => {});
  const pod = aPod('web');
  const app = aContainer('app', { image: 'busybox:1.35' });
  assert.equal(await images.ensureImage(pod, app, signal), 'busybox:1.35');
  assert.equal(await hooks.preStop(pod, app, 'id' as never, 5_000, signal), 5_000);
  assert.equal(probes.liveness('id' as never), undefined);
});

test('a capability that cannot be loaded, or throws at once, is named, too', async () => {
  const cause = new Error('no such module');
  const notLoaded: Capability = { name: 'gpu', wanted: () => true, load: () => Promise.reject(cause) };
  const throws = capability('gpu', () => {
    throw cause;
  });
  for (const broken of [notLoaded, throws])
    await assert.rejects(
      gather([broken], node.options, node, () => {}),
      (error: Error) => error.message === 'gpu cannot be set up' && error.cause === cause,
    );
});

test('a source or a route that is contributed twice is refused', async () => {
  const file = { name: 'file', snapshots: NEVER } as const;
  const route = { methods: ['GET', 'POST'], path: '/metrics' } as const;
  const twice = (contribution: Contribution): Promise<unknown> =>
    gather([capability('a', () => contribution), capability('b', () => contribution)], node.options, node, () => {});
  await assert.rejects(twice({ sources: [file] }), { message: 'two capabilities contribute the source file' });
  await assert.rejects(twice({ routes: [route] }), { message: 'two capabilities contribute the route GET /metrics' });
  await gather(
    [
      capability('a', () => ({ routes: [{ ...route, methods: ['GET'] }] })),
      capability('b', () => ({ routes: [{ ...route, methods: ['POST'] }] })),
    ],
    node.options,
    node,
    () => {},
  );
});

test('what is used is what the capability that measures says; without one nothing is known', async () => {
  const stats = { node: () => Promise.reject(new Error('not asked')), pods: async () => [] };
  assert.equal((await gather([capability('stats', () => ({ stats }))], node.options, node, () => {})).stats, stats);
  const none = await gather([], node.options, node, () => {});
  assert.deepEqual(await none.stats.pods(signal), []);
  assert.deepEqual((await none.stats.node(signal)).systemContainers, []);
});
