import assert from 'node:assert/strict';
import { mkdir, mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { CONFIG_SOURCE_ANNOTATION } from '../../../src/model/config-annotations.ts';
import type { PodParticipant } from '../../../src/ports/pod-participant.ts';
import type { Staged } from '../../../src/ports/staged.ts';
import { capability } from '../../../src/volumes/capability.ts';
import { aContainer, aPod } from '../../builders/a-pod.ts';
import { type NodeUnderTest, nodeUnderTest, runServices } from '../../builders/node-parts.ts';

const { signal } = new AbortController();
const app = aContainer('app', {
  volumeMounts: [
    { name: 'data', mountPath: '/data' },
    { name: 'settings', mountPath: '/etc/app' },
  ],
});
const web = aPod(
  'web',
  {
    volumes: [
      { name: 'data', emptyDir: {} },
      { name: 'settings', configMap: { name: 'settings' } },
    ],
    containers: [app],
  },
  { annotations: { [CONFIG_SOURCE_ANNOTATION]: 'file' } },
);
const { uid } = web.metadata;

interface Scene extends NodeUnderTest {
  readonly podDir: string;
  readonly pod: PodParticipant;
  readonly services: readonly Staged[];
  readonly declareColor: (color: string) => void;
}

async function staged(t: TestContext): Promise<Scene> {
  const rootDir = await mkdtemp(join(tmpdir(), 'volumes-'));
  t.after(() => rm(rootDir, { recursive: true }));
  const under = nodeUnderTest({ options: { rootDir } });
  t.after(() => under.node.engine.close());
  const { pod = {}, services = [] } = capability(under.node);
  const declareColor = (color: string): void =>
    under.node.objects.declare([
      {
        kind: 'ConfigMap',
        metadata: { name: 'settings', namespace: 'default', uid: 'u', resourceVersion: color },
        data: { color },
      },
    ]);
  under.node.objects.register(web);
  return { ...under, pod, services, podDir: join(rootDir, 'pods', uid), declareColor };
}

test('volumes are made, mounted, kept up to date, and removed with their pod', async (t) => {
  const { pod, podDir, declareColor } = await staged(t);
  declareColor('red');
  assert.equal(await pod.prepare?.(web, signal), undefined);
  const { mounts = [] } = (await pod.container?.(web, app, { env: new Map(), podIps: async () => 'unknown' }, signal)) ?? {};
  const [data = '', settings = ''] = mounts.map(({ hostPath }) => hostPath);
  assert.deepEqual(
    mounts.map(({ containerPath }) => containerPath),
    ['/data', '/etc/app'],
  );
  assert.ok((await stat(data)).isDirectory());
  assert.equal(await readFile(join(settings, 'color'), 'utf8'), 'red');
  declareColor('blue');
  await pod.prepare?.(web, signal);
  assert.equal(await readFile(join(settings, 'color'), 'utf8'), 'blue');
  assert.equal(await pod.remains?.(uid, signal), 'volumes');
  await pod.tearDown?.(uid, signal);
  assert.equal(await pod.remains?.(uid, signal), undefined);
  assert.ok((await stat(podDir)).isDirectory());
  await pod.release?.(uid, signal);
  await assert.rejects(stat(podDir), { code: 'ENOENT' });
});

test('a volume that cannot be made keeps its pod from starting; one that is there goes on as it was', async (t) => {
  const { node, pod, declareColor, events } = await staged(t);
  await assert.rejects(async () => pod.prepare?.(web, signal), { message: /^MountVolume\.SetUp failed for volume "settings" : / });
  declareColor('red');
  await pod.prepare?.(web, signal);
  node.objects.declare([]);
  const outOfDate = await pod.prepare?.(web, signal);
  assert.match(outOfDate?.message ?? '', /^MountVolume\.SetUp failed for volume "settings" : /);
  assert.equal(outOfDate?.retryInMs, 500);
  assert.deepEqual(new Set(events.map(({ reason }) => reason)), new Set(['FailedMount']));
});

test('what orphaned pods left is removed once every source has spoken, and nothing of pods that are declared or run', async (t) => {
  const { node, services, declare, podDir, clock, log } = await staged(t);
  const pods = join(podDir, '..');
  for (const name of [uid, 'uid-running', 'gone']) await mkdir(join(pods, name, 'volumes'), { recursive: true });
  const started = node.engine.runtime.runSandbox(aPod('running'), { attempt: 0, hostname: 'running' }, signal);
  await clock.advance(10_000);
  await started;
  const running = runServices(services);
  await clock.advance(60_000);
  assert.equal((await readdir(pods)).length, 3);
  const removed = log.next('orphaned pod directory removed');
  declare(web);
  assert.deepEqual((await clock.until(removed)).fields, { uid: 'gone' });
  assert.deepEqual((await readdir(pods)).sort(), [uid, 'uid-running'].sort());
  await running.stop();
});

test('the sweep is beside the pods; what ends hanging mounts stops first', async (t) => {
  const { services } = await staged(t);
  assert.deepEqual(
    services.map(({ name, stage }) => `${stage}: ${name}`),
    [
      'before pods: volumes of drivers',
      'before pods: disks of before',
      'beside pods: disks that no pod has',
      'beside pods: volumes that grow',
      'beside pods: orphaned volumes',
      'server: end of mounts',
    ],
  );
});
