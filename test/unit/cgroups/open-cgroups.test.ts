import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { CgroupManager } from '../../../src/cgroups/cgroup-manager.ts';
import { CgroupSetupError, openCgroups, type OpenCgroupsDeps } from '../../../src/cgroups/open-cgroups.ts';
import type { EngineCgroups } from '../../../src/ports/engine-features.ts';
import { nodeUnderTest } from '../../builders/node-parts.ts';
import { RecordingLogger } from '../../fakes/recording-logger.ts';

const never = new AbortController().signal;
const v1: EngineCgroups = { driver: 'cgroupfs', version: 1 };

interface Setup {
  readonly ofEngine?: EngineCgroups | undefined;
  readonly isHere?: boolean;
  readonly version?: 1 | 2 | undefined;
  readonly cgroupDriver?: string;
  readonly origin?: 'default' | 'file' | 'flag';
  readonly cgroupRoot?: string;
}

/** A machine whose hierarchies are directories. */
async function opened(t: TestContext, setup: Setup = {}) {
  const { ofEngine = v1, isHere = true, cgroupDriver = 'cgroupfs', origin = 'default', cgroupRoot = '' } = setup;
  const root = await mkdtemp(join(tmpdir(), 'rxlet-cgroups-'));
  t.after(() => rm(root, { recursive: true }));
  await mkdir(join(root, 'memory'));
  await writeFile(join(root, 'memory/cgroup.procs'), '');
  const { node } = nodeUnderTest();
  const log = new RecordingLogger();
  const deps: OpenCgroupsDeps = {
    clock: node.clock,
    tell: node.tell,
    log,
    cgroups: { root, version: 'version' in setup ? setup.version : 1, missing: [], mixedIn: [] },
    engine: {
      features: async (signal) => ({ ...(await node.engine.features(signal)), cgroups: 'ofEngine' in setup ? setup.ofEngine : ofEngine }),
      dataDirectory: async () => (isHere ? '/var/lib/docker' : undefined),
    },
    options: { cgroupDriver, cgroupRoot },
    origins: { cgroupDriver: origin },
    hugePages: join(root, 'none'),
  };
  return { found: await openCgroups(deps, never), log };
}

test('an engine without cgroups has none made for its pods; one that is elsewhere, or sees others, is told of', async (t) => {
  assert.equal((await opened(t, { ofEngine: undefined })).found, undefined);
  const because = async (setup: Setup): Promise<string> => {
    const { found } = await opened(t, setup);
    return found && 'because' in found ? found.because : '';
  };
  assert.match(await because({ isHere: false }), /the engine is not on this machine/);
  assert.match(await because({ version: undefined }), /there are no control groups in /);
  assert.match(await because({ version: 2 }), /the engine uses cgroup v1, and .* is of v2/);
});

test("the driver is the engine's: a flag that says another is refused, a config file gives way with a warning", async (t) => {
  const driverOf = async (setup: Setup) => {
    const { found, log } = await opened(t, setup);
    assert(found instanceof CgroupManager);
    return [found.driver, log.lines.filter(({ level }) => level === 'warn').length];
  };
  assert.deepEqual(await driverOf({ ofEngine: { driver: 'systemd', version: 1 } }), ['systemd', 0]);
  assert.deepEqual(await driverOf({ cgroupDriver: 'systemd', origin: 'file' }), ['cgroupfs', 1]);
  assert.deepEqual(await driverOf({ cgroupDriver: 'cgroupfs', origin: 'flag' }), ['cgroupfs', 0]);
  await assert.rejects(
    opened(t, { cgroupDriver: 'systemd', origin: 'flag' }),
    new CgroupSetupError(
      'misconfiguration: kubelet cgroup driver: "systemd" is different from docker cgroup driver: "cgroupfs"; leave --cgroup-driver out',
    ),
  );
});

test('a cgroup root that is not there is refused', async (t) => {
  await assert.rejects(opened(t, { cgroupRoot: '/nowhere' }), /invalid configuration: cgroup-root "\/nowhere" doesn't exist/);
});
