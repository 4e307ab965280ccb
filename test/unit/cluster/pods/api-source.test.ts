import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Subject } from 'rxjs';
import { CONFIG_MIRROR_ANNOTATION } from '../../../../src/model/config-annotations.ts';
import { type Pod, podFullName, type PodUid } from '../../../../src/model/pod.ts';
import type { Informer, ResourceEvent, WatchedObject, WatchTarget } from '../../../../src/ports/kube-api.ts';
import { apiSource } from '../../../../src/cluster/pods/api-source.ts';
import { aPod } from '../../../builders/a-pod.ts';
import { namesOf, Snapshots } from '../../../builders/snapshots.ts';
import { RecordingLogger } from '../../../fakes/recording-logger.ts';

function setUp() {
  const events = new Subject<ResourceEvent<WatchedObject>>();
  const targets: WatchTarget[] = [];
  const log = new RecordingLogger();
  const informer = ((target: WatchTarget) => {
    targets.push(target);
    return events;
  }) as Informer;
  const source = apiSource({ informer, nodeName: 'node-1', log });
  return { events, targets, log, source, snapshots: new Snapshots(source) };
}

type ApiObject = Pod & WatchedObject;
const object = (name: string, version: number, over: Partial<Pod['metadata']> = {}): ApiObject => {
  const pod = aPod(name, {}, over);
  return { ...pod, metadata: { ...pod.metadata, resourceVersion: String(version) } };
};
const reset = (...items: readonly WatchedObject[]): ResourceEvent<WatchedObject> => ({ kind: 'reset', items });
const put = (item: WatchedObject): ResourceEvent<WatchedObject> => ({ kind: 'put', item });
const drop = (item: WatchedObject): ResourceEvent<WatchedObject> => ({ kind: 'drop', item });

test('the node asks for its own pods, and has spoken once it has heard them all, be it none', async () => {
  const { events, targets, source, snapshots } = setUp();
  using _ = snapshots;
  assert.deepEqual(targets, [{ path: '/api/v1/pods', fieldSelector: 'spec.nodeName=node-1' }]);
  assert.equal(source.pods.synced, false);
  events.next(reset());
  assert.deepEqual(await snapshots.next(), []);
  assert.equal(source.pods.synced, true);
});

test('pods come, change and go; what did not change keeps its identity, also over a relist', async () => {
  const { events, snapshots } = setUp();
  using _ = snapshots;
  events.next(reset(object('a', 1), object('b', 2)));
  const first = await snapshots.next();
  events.next(put(object('b', 3)));
  const second = await snapshots.next();
  assert.equal(second[0], first[0]);
  assert.notEqual(second[1], first[1]);
  events.next(reset(object('a', 1), object('b', 3)));
  assert.equal(snapshots.waiting, 0);
  events.next(drop(object('a', 4)));
  assert.deepEqual(namesOf(await snapshots.next()), ['b']);
});

test('a pod deleted and made again between two lists is another pod', async () => {
  const { events, source, snapshots } = setUp();
  using _ = snapshots;
  events.next(reset(object('a', 1)));
  await snapshots.next();
  events.next(reset(object('a', 5, { uid: 'second' as PodUid })));
  assert.deepEqual(
    (await snapshots.next()).map(({ metadata }) => metadata.uid),
    ['second'],
  );
  assert.equal(source.pods.byUid('uid-a' as PodUid), undefined);
});

test('mirror pods are for those who ask for them', async () => {
  const { events, source, snapshots } = setUp();
  using _ = snapshots;
  const mirror = object('etcd', 2, { annotations: { [CONFIG_MIRROR_ANNOTATION]: 'h' } });
  events.next(reset(object('a', 1), mirror));
  assert.deepEqual(namesOf(await snapshots.next()), ['a']);
  assert.equal(source.pods.byName(podFullName(mirror))?.metadata.uid, mirror.metadata.uid);
});

test('fields of newer servers pass through', async () => {
  const { events, snapshots } = setUp();
  using _ = snapshots;
  events.next(reset({ ...object('a', 1), spec: { ...object('a', 1).spec, podResources: { cpu: '1' } } } as WatchedObject));
  assert.deepEqual(
    (await snapshots.next()).map(({ spec }) => Reflect.get(spec, 'podResources')),
    [{ cpu: '1' }],
  );
});

test('an object that is no pod is said once and skipped; one that was a pod stays what it was', async () => {
  const { events, log, snapshots } = setUp();
  using _ = snapshots;
  const broken = (version: number): WatchedObject => ({ metadata: { ...object('a', version).metadata } });
  events.next(reset(broken(1), object('b', 2)));
  assert.deepEqual(namesOf(await snapshots.next()), ['b']);
  events.next(put(broken(3)));
  assert.equal(log.count('API pod refused'), 1);
  events.next(put({ metadata: object('b', 4).metadata }));
  assert.equal(snapshots.waiting, 0);
  assert.deepEqual(log.lines.at(-1)?.fields['keeps'], 'what it was');
});

test('what was said of an object is forgotten with it, also when it went while nobody watched', () => {
  const { events, log, snapshots } = setUp();
  using _ = snapshots;
  const broken: WatchedObject = { metadata: object('a', 1).metadata };
  for (const event of [reset(broken), reset(broken), reset(), reset(broken)]) events.next(event);
  assert.equal(log.count('API pod refused'), 2);
});

test("the server's answers count at once, and never against what the watch has told since", () => {
  const { events, source, snapshots } = setUp();
  using _ = snapshots;
  const phase = (): string | undefined => source.pods.byUid('uid-a' as PodUid)?.status?.phase;
  const at = (version: number, phase: string): ApiObject => ({ ...object('a', version), status: { phase } });
  events.next(reset(at(1, 'Pending')));
  source.pods.learn(at(4, 'Running'));
  assert.equal(phase(), 'Running');
  events.next(put(at(3, 'Pending')));
  assert.equal(phase(), 'Running', 'the watch is behind');
  events.next(put(at(6, 'Failed')));
  source.pods.learn(at(5, 'Running'));
  assert.equal(phase(), 'Failed', 'the answer is behind');
  events.next(drop(at(8, 'Failed')));
  source.pods.learn(at(7, 'Running'));
  assert.equal(phase(), undefined, 'what is gone does not come back');
  source.pods.learn(undefined);
});
