import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import type { V1PodSpec } from '@kubernetes/client-node';
import { readCgroupHierarchy } from '../../../src/base/cgroup-hierarchy.ts';
import { AgentUnderTest } from './agent-under-test.ts';
import { app, pod, stays } from './pod-specs.ts';
import { dockerOf } from './docker-test-engine.ts';

/** How many pods come and go; RXLET_TEST_DOCKER_CHURN=1000 takes a quarter of an hour. */
const PODS = Number(process.env['RXLET_TEST_DOCKER_CHURN'] ?? 40);
/** Of 110 that a node takes. */
const AT_ONCE = Math.min(50, PODS / 2);
/** What an engine's own books may grow by. */
const SLACK_BYTES = 4 * 2 ** 20;

const volumeMounts = [{ name: 'data', mountPath: '/data' }];
const writesAndStays = app(`head -c 1000000 /dev/zero | tee /data/file > /file; echo written; ${stays}`, { volumeMounts });

/** One of each sort of pod that ends in another way, or not at all, and the phase that it comes to. */
const sorts: readonly { readonly phase: string; readonly spec: V1PodSpec }[] = [
  { phase: 'Running', spec: pod([writesAndStays], { volumes: [{ name: 'data', emptyDir: {} }] }) },
  { phase: 'Running', spec: pod([writesAndStays], { volumes: [{ name: 'data', emptyDir: { medium: 'Memory' } }] }) },
  { phase: 'Running', spec: pod([app()], { initContainers: [app('seq 10000', { name: 'first' })] }) },
  { phase: 'Succeeded', spec: pod([app('seq 10000')], { restartPolicy: 'Never' }) },
  { phase: 'Running', spec: pod([app(stays), app('exit 1', { name: 'fails' })]) },
];

/** What pods leave, if they do. */
interface Census {
  readonly containers: number;
  readonly images: readonly string[];
  /** Directories of layers, and of containers' logs and settings. */
  readonly layers: number;
  readonly containerDirectories: number;
  readonly veths: number;
  readonly cgroups: readonly string[];
  readonly mounts: readonly string[];
  /** Of the agent's root directory. */
  readonly directories: readonly string[];
  /** Below /var/log. */
  readonly logs: readonly string[];
}

async function census(agent: AgentUnderTest): Promise<Census> {
  const raw = dockerOf(agent.engine);
  const { DockerRootDir } = (await raw.call('GET', '/info')) as { DockerRootDir: string };
  const network = (await raw.call('GET', '/networks/bridge')) as { Options: Record<string, string> };
  const bridge = network.Options['com.docker.network.bridge.name'] ?? 'docker0';
  const names = async (path: string): Promise<readonly string[]> => (await readdir(path)).toSorted();
  return {
    containers: ((await raw.call('GET', '/containers/json?all=1')) as readonly unknown[]).length,
    images: (await agent.engine.images()).toSorted(),
    layers: (await names(join(DockerRootDir, 'overlay2'))).length,
    containerDirectories: (await names(join(DockerRootDir, 'containers'))).length,
    veths: (await names(`/sys/class/net/${bridge}/brif`)).length,
    cgroups: await cgroupsOf(agent),
    mounts: (await readFile('/proc/mounts', 'utf8')).split('\n').filter((line) => line.includes(agent.dir)),
    // The timeline has a bound of its own, and begins with its first entry.
    directories: (await directoriesBelow(agent.rootDir)).filter((path) => path !== join(agent.rootDir, 'timeline')),
    logs: (await agent.traces()).filter((path) => path.startsWith('/var/log')),
  };
}

/** In all hierarchies. */
async function cgroupsOf({ cgroups }: AgentUnderTest): Promise<readonly string[]> {
  if (cgroups === undefined) return [];
  const { root, version } = await readCgroupHierarchy();
  const hierarchies = version === 2 ? [''] : await readdir(root);
  const each = hierarchies.map((name) => directoriesBelow(join(root, name, cgroups.path)).catch(() => []));
  return (await Promise.all(each)).flat().toSorted();
}

async function directoriesBelow(path: string): Promise<readonly string[]> {
  const entries = await readdir(path, { recursive: true, withFileTypes: true });
  return entries.filter((entry) => entry.isDirectory()).map((entry) => join(entry.parentPath, entry.name));
}

async function bytesOfEngine(agent: AgentUnderTest): Promise<number> {
  const { DockerRootDir } = (await dockerOf(agent.engine).call('GET', '/info')) as { DockerRootDir: string };
  const { stdout } = await promisify(execFile)('du', ['--summarize', '--block-size=1', DockerRootDir]);
  return Number(stdout.split('\t')[0]);
}

test(`${PODS} pods that come and go leave nothing behind`, { timeout: 60_000 + PODS * 5_000 }, async (t) => {
  const agent = await AgentUnderTest.start(t, '--max-pods=110');
  await agent.declare('first', pod());
  await agent.up('first');
  await agent.remove('first');
  await agent.gone('first');
  await agent.until('nothing of the first pod is left', async () => (await agent.traces()).length === 0);
  const [before, bytesBefore] = [await census(agent), await bytesOfEngine(agent)];
  for (let done = 0; done < PODS; done += AT_ONCE) {
    const from = agent.lines.length;
    const round = Array.from({ length: Math.min(AT_ONCE, PODS - done) }, (_, i) => {
      const sort = sorts[i % sorts.length];
      assert.ok(sort);
      return { ...sort, name: `pod-${done + i}` };
    });
    for (const { name, spec } of round) await agent.declare(name, spec);
    const phases = new Map(round.map(({ name, phase }) => [`default/${agent.pod(name)}`, phase]));
    const reached = (): number =>
      new Set(
        agent.lines
          .slice(from)
          .flatMap(({ msg, pod: of, to }) => (msg === 'pod phase changed' && phases.get(String(of)) === to ? [of] : [])),
      ).size;
    await agent.until(`all ${round.length} pods after the first ${done} came as far as they should`, () => reached() === round.length);
    for (const { name } of round) await agent.remove(name);
    await agent.until(`all ${round.length} pods after the first ${done} are gone`, async () => {
      if ((await agent.engine.containers()).length > 0) return false;
      return (await agent.traces()).length === 0;
    });
    t.diagnostic(`${done + round.length} pods`);
  }
  await agent.until("the pods' cgroups are gone", async () => (await cgroupsOf(agent)).length <= before.cgroups.length);
  assert.deepEqual(await census(agent), before);
  const grown = (await bytesOfEngine(agent)) - bytesBefore;
  t.diagnostic(
    `the engine's data grew by ${grown} bytes of ${bytesBefore}; ${JSON.stringify({ ...before, cgroups: before.cgroups.length, directories: before.directories.length })}`,
  );
  assert.ok(grown <= SLACK_BYTES, `the engine's data grew by ${grown} bytes`);
});
