import assert from 'node:assert/strict';
import { mkdir, readdir } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { describe, test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { AgentClient } from '../../../src/cli/agent-client.ts';
import { systemClock } from '../../../src/base/clock.ts';
import { errorCode } from '../../../src/base/error-code.ts';
import { systemMounts } from '../../../src/volumes/mounts.ts';
import { untilFileHolds } from '../../builders/file-that-holds.ts';
import { kubectl } from '../../builders/cluster-under-test.ts';
import { InspectedProcess, type Memory } from '../../builders/inspected-process.ts';
import { childrenOf, type Descriptors, descriptorsOf, endOfChildren, ownMemory, slope } from '../../builders/process-footprint.ts';
import { heldTexts } from '../../builders/held-texts.ts';
import type { Disposer } from '../../integration/agent/agent-under-test.ts';
import { ClusterNode, isPodReady, type PodJson } from '../agent/cluster-node.ts';
import { type PodKind, podsWithEverything, type Shown } from './pods-with-everything.ts';
import { dockerOf } from '../../integration/agent/docker-test-engine.ts';

const mounts = systemMounts({ clock: systemClock });

interface LeastMemory extends Memory {
  /** Without pages of the program's file: more of them are there with each kind of work that is done for the first time. */
  readonly own: number;
  readonly pieces: number;
}

const WAVES = 10;
const PODS = 20;
/**
 * Of so much for each pod it is not known whether it is a leak. V8 compiles and learns on: runs show up to 10 KiB that are alive and 5 KiB
 * and less of its own memory, in the two waves where it grows least. Of what is kept by a pod's name each byte is found.
 */
const NOISE_BYTES = { alive: 25 * 1024, own: 25 * 1024 };
/**
 * For small pieces the C library takes more with each peak, and keeps it where one piece at its end is in use: up to 15 MB in a run beside other
 * work, of which 7.1 MB were in use at its beginning and 7.7 MB at its end.
 */
const NOISE_OF_PIECES_BYTES = 30 * 1024 * 1024;
/**
 * Free memory goes back to the system at once. The C library would keep some of it, between 20 and 35 MB without a direction over 600 pods,
 * which looks like up to 180 KiB for each pod of a hundred.
 */
const ALLOCATOR = { MALLOC_ARENA_MAX: '1', MALLOC_TRIM_THRESHOLD_: '65536', MALLOC_MMAP_THRESHOLD_: '65536', MALLOC_TOP_PAD_: '0' };
/**
 * How long after its end a pod may be known: a line of its log is remembered for a minute, and one that was repeated, which is logged once more
 * after that, for another one.
 */
const MEMORY_MS = 130_000;

// Beside other tests a wave takes up to two minutes.
describe('what is left of pods', { timeout: 2_400_000 }, () => {
  test('nothing, after two hundred with every kind of volume', async (t) => {
    const engineDir = process.env['RXLET_TEST_ENGINE_DIR'];
    assert.ok(engineDir, 'RXLET_TEST_ENGINE_DIR names the private engine of this test; hack/test.sh sets it');
    // Any port will do for the inspector, once it is asked for.
    const environment = { NODE_OPTIONS: '--inspect-port=0', ...ALLOCATOR };
    Object.assign(process.env, environment);
    t.after(() => Object.keys(environment).forEach((name) => delete process.env[name]));
    // Else it remembers pods on purpose: what has happened to them, and for an hour why.
    const node = await ClusterNode.start(t, '--v=2', '--timeline-max-mib=0');
    const { agent } = node;
    const kinds = podsWithEverything(await objects(t, node));
    const client = new AgentClient(join(agent.rootDir, 'rxlet.sock'));
    process.kill(agent.pid, 'SIGUSR1');
    const listening = await agent.until('the inspector listens', () => agent.output.find((line) => line.includes('ws://')));
    const inspected = await InspectedProcess.attach(listening);
    t.after(() => inspected.close());

    const traces = async () => ({
      containers: (await agent.engine.containers()).map(({ name }) => name),
      engineVolumes: ((await dockerOf(agent.engine).call('GET', '/volumes')) as { Volumes: unknown[] | null }).Volumes ?? [],
      // The engine unmounts a namespace when its container goes; the file stays there for up to a minute.
      networkNamespaces: (await mounts.below(engineDir)).filter((path) => path.includes('/netns/')),
      mounts: await mounts.below(agent.dir),
      files: await filesBelow(agent.rootDir),
      logs: await agent.traces(),
      children: await childrenOf(agent.pid),
    });
    const before = await traces();
    const memory: LeastMemory[] = [];
    const gone: { readonly name: string; readonly atMs: number }[] = [];
    const descriptors: Descriptors[] = [];
    for (let wave = 0; wave < WAVES; wave++) {
      const beganAtMs = Date.now();
      const pods = Array.from({ length: PODS }, (_, i) => ({ name: `w${wave}-${i}`, kind: kinds[i % kinds.length] }));
      await node.apply(...pods.flatMap(({ name, kind }) => (kind ? [manifest(node, name, kind)] : [])));
      await progress(node, 'what it is made for', () => pods.filter(({ name, kind }) => !kind || !reached(node.pod(name), kind)).length);
      const upMs = Date.now() - beganAtMs;
      const { children: _, engineVolumes: __, ...there } = await traces();
      for (const [what, all] of Object.entries(there)) assert.ok(all.length > PODS / 2, `${what} of pods that run: ${all.length}`);
      await node.kubectl('delete', 'pods', '--all', '--wait=false');
      await progress(node, 'its end in the API', () => node.pods.list().length);
      await progress(node, 'its end in the engine', async () => (await agent.engine.containers()).length);
      const goneAtMs = Date.now();
      gone.push(...pods.map(({ name }) => ({ name: node.called(name), atMs: goneAtMs })));
      const now = await leastMemory(inspected, agent.pid);
      memory.push(now);
      const held = await descriptorsOf(agent.pid);
      descriptors.push(held);
      t.diagnostic(
        `wave ${wave}: after ${upMs} ms all were up, after ${goneAtMs - beganAtMs} ms gone; ${kib(now.alive)} KiB alive, ${kib(now.own)} KiB of its own, ${kib(now.pieces)} KiB for small pieces, RSS ${kib(now.rss)} KiB, ${held.open} descriptors`,
      );
    }

    await untilFileHolds(agent.rootDir, 'passed_probes.json', '{"version":1,"readiness":[],"startup":[]}');
    // The process for files that pods choose ends by itself, half a minute after its last work.
    await agent.within('all that it has started ends', endOfChildren(agent.pid));
    const { files, networkNamespaces, ...left } = await traces();
    const { files: filesBefore, networkNamespaces: _, ...atFirst } = before;
    assert.deepEqual(left, atFirst);
    assert.deepEqual(
      files.filter((file) => !filesBefore.includes(file)),
      // One pod's image cannot be pulled: what is recorded of that is removed, its directory stays.
      ['image_manager', 'image_manager/pulling', 'passed_probes.json', 'pods'],
    );
    // The node's own namespace gets its file there with the first pod that uses it.
    assert.deepEqual(
      networkNamespaces.filter((path) => !path.endsWith('/default') && !before.networkNamespaces.includes(path)),
      [],
    );
    assert.doesNotMatch(await client.text('/metrics/probes'), /^prober_probe_total\{/m);

    const watches = descriptors.map((each) => each.watches);
    assert.equal(watches.at(-1), watches[0], `watches of files: ${watches.join(', ')}`);
    // Connections to the engine and the API server come and go.
    const open = descriptors.map((each) => each.open);
    const least = [Math.min(...open.slice(0, WAVES / 2)), Math.min(...open.slice(WAVES / 2))] as const;
    assert.ok(least[1] <= least[0] + PODS / 2, `descriptors: ${open.join(', ')}`);

    const second = memory.slice(WAVES / 2);
    const alive = slope(second.map((each) => each.alive)) / PODS;
    // What the process has of the system goes up by some MB when V8 once takes another part of its heap, in whichever waves, and stays there: a leak
    // goes on in all of them.
    const growths = memory.slice(1, -2).map(({ own: before }, at) => ((memory[at + 3]?.own ?? 0) - before) / (2 * PODS));
    const own = Math.min(...growths);
    t.diagnostic(
      `for each pod: ${kib(alive)} KiB alive in the second hundred, ${kib(own)} KiB of its own in the two waves where it grew least: ${growths.map(kib).join(', ')}`,
    );
    assert.ok(alive < NOISE_BYTES.alive, `${kib(alive)} KiB for each pod are kept`);
    assert.ok(own < NOISE_BYTES.own, `the process's own memory grows by ${kib(own)} KiB with each pod`);
    const pieces = (memory.at(-1)?.pieces ?? 0) - (memory[0]?.pieces ?? 0);
    assert.ok(pieces < NOISE_OF_PIECES_BYTES, `what the process has for small pieces grew by ${kib(pieces)} KiB`);

    // Of two waves at least, also where all of them took less.
    const { atMs: ofSecondMs = 0 } = gone[2 * PODS - 1] ?? {};
    await setTimeout(Math.max(0, ofSecondMs + MEMORY_MS - Date.now()));
    // What containers use is known until it is measured again, which eviction does only while there are pods whose disk is limited.
    await client.json('/stats/summary');
    const longGone = gone.filter(({ atMs }) => Date.now() - atMs >= MEMORY_MS);
    t.diagnostic(`${longGone.length} pods have been gone for long enough to be forgotten`);
    const remembered = await heldTexts(
      client,
      longGone.map(({ name }) => name),
    );
    assert.deepEqual(remembered, []);
  });
});

const kib = (bytes: number): number => Math.round(bytes / 102.4) / 10;

/** Waits until none is left, however slow the machine is, as long as they get fewer. */
async function progress(node: ClusterNode, what: string, count: () => number | Promise<number>): Promise<void> {
  for (let left = await count(); left > 0;) {
    const before = left;
    left = await node.until(`one more of ${before} gets to ${what}`, async () => {
      const now = await count();
      return now < before ? now : undefined;
    });
  }
}

/** Of some looks in a row: what is under way at one of them may be over at the next. */
async function leastMemory(inspected: InspectedProcess, pid: number): Promise<LeastMemory> {
  const looks: LeastMemory[] = [];
  for (let i = 0; i < 3; i++) {
    if (i > 0) await setTimeout(400);
    const { alive, rss } = await inspected.memory();
    const { rest: own, pieces } = await ownMemory(pid);
    looks.push({ alive, rss, own, pieces });
  }
  const least = (of: keyof LeastMemory): number => Math.min(...looks.map((look) => look[of]));
  return { alive: least('alive'), rss: least('rss'), own: least('own'), pieces: least('pieces') };
}

const manifest = (node: ClusterNode, name: string, { spec }: PodKind): object => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: node.called(name), labels: { app: 'everything' } },
  spec: node.here(spec),
});

function reached(pod: PodJson | undefined, { gets }: PodKind): boolean {
  const [container] = pod?.status?.containerStatuses ?? [];
  if (pod === undefined || container === undefined) return false;
  if (gets === 'up') return isPodReady(pod);
  if (gets === 'done') return pod.status?.phase === 'Succeeded';
  return gets === 'restarted' ? container.restartCount > 0 : container.state?.waiting !== undefined;
}

/** What the pods' volumes show; persistent volumes go with the test, all else with the namespace. */
async function objects(test: Disposer, node: ClusterNode): Promise<Shown> {
  const directoryOf = async (name: string): Promise<string> => {
    const path = join(node.agent.dir, name);
    await mkdir(path);
    return path;
  };
  const [hostPathClaim, localClaim] = ['on-host-path', 'on-local'];
  const size = { storage: '1Gi' };
  const spec = { accessModes: ['ReadWriteMany'], storageClassName: '' };
  const volume = (name: string, source: object): object => ({
    apiVersion: 'v1',
    kind: 'PersistentVolume',
    metadata: { name: node.called(name) },
    spec: { ...spec, capacity: size, claimRef: { namespace: node.namespace, name }, ...source },
  });
  const claim = (name: string): object => ({
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: { name },
    spec: { ...spec, volumeName: node.called(name), resources: { requests: size } },
  });
  const here = { key: 'kubernetes.io/hostname', operator: 'In', values: [node.name] };
  const nodeAffinity = { required: { nodeSelectorTerms: [{ matchExpressions: [here] }] } };
  test.after(async () => {
    await kubectl(
      'delete',
      'persistentvolume',
      '--wait=false',
      '--ignore-not-found',
      ...[hostPathClaim, localClaim].map((name) => node.called(name)),
    );
  });
  await node.apply(
    { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'settings' }, data: { level: 'high' } },
    { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'login' }, stringData: { user: 'me' } },
    volume(hostPathClaim, { hostPath: { path: await directoryOf(hostPathClaim) } }),
    volume(localClaim, { local: { path: await directoryOf(localClaim) }, nodeAffinity }),
    claim(hostPathClaim),
    claim(localClaim),
  );
  return { configMap: 'settings', secret: 'login', hostPathClaim, localClaim, directory: await directoryOf('host') };
}

async function filesBelow(directory: string, tries = PODS): Promise<readonly string[]> {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true }).catch((error: unknown) => {
    // Of a pod that is over some go while they are listed: then they are listed again.
    if (errorCode(error) !== 'ENOENT' || tries === 0) throw error;
    return undefined;
  });
  if (entries === undefined) return filesBelow(directory, tries - 1);
  return entries.map(({ parentPath, name }) => relative(directory, join(parentPath, name))).sort();
}
