import { execFile } from 'node:child_process';
import { hash, randomUUID } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { systemClock } from '../../src/base/clock.ts';
import { isJsonObject, type JsonObject } from '../../src/base/json-object.ts';
import { silentLogger } from '../../src/base/logger.ts';
import { criAccess } from '../../src/engines/cri/access/cri-access.ts';
import { RuntimeService } from '../../src/engines/cri/api/runtime_pb.js';
import { type CriClient, openCriClient } from '../../src/engines/cri/client/cri-client.ts';
import { KnownFeatures } from '../../src/engines/common/known-features.ts';
import { criRuntime } from '../../src/engines/cri/cri-runtime.ts';
import { engineFeatures } from '../../src/engines/cri/features/engine-features.ts';
import { CriImageService } from '../../src/engines/cri/images/cri-image-service.ts';
import { LogDirectories } from '../../src/engines/cri/logs/log-directories.ts';
import { TimestampedLogs } from '../../src/engines/cri/logs/timestamped-logs.ts';
import { containerEvents } from '../../src/engines/cri/observe/container-events.ts';
import { listedHints } from '../../src/engines/cri/observe/listed-hints.ts';
import { listPods } from '../../src/engines/cri/observe/list-pods.ts';
import type { ContainerAccess } from '../../src/ports/container-access.ts';
import { aCriNode } from '../builders/a-cri-node.ts';
import type { EngineFacts, EngineUnderTest, MadeWith } from './runtime-world.ts';

const IMAGE = 'docker.io/library/busybox:1.35';
/** hack/containerd.sh gives it to the runtime. */
const HANDLER = 'another';
const { podSandboxStatus, listContainers, containerStatus } = RuntimeService.method;

const facts: EngineFacts = {
  name: 'containerd',
  imageId: /sha256:[0-9a-f]{64}$/,
  failedStart: { exitCode: 128, reason: 'StartError', startedAt: 'not told' },
  keepsInputOpen: true,
  namesStopSignals: false,
  absentImageFiles: /cannot be a volume/,
  tellsDevicePermissions: true,
};

const deadline = (): AbortSignal => AbortSignal.timeout(60_000);

/** The runtime at RXLET_TEST_CRI_ENDPOINT, with logs in a directory of its own. */
export async function criUnderTest(): Promise<EngineUnderTest & { readonly access: ContainerAccess }> {
  const endpoint = process.env['RXLET_TEST_CRI_ENDPOINT'];
  if (endpoint === undefined) throw new Error('RXLET_TEST_CRI_ENDPOINT names no runtime: hack/containerd.sh up DIR prints one');
  const tell = { engineCalled: () => {} };
  const client = openCriClient({ endpoint, clock: systemClock, random: Math.random, requestTimeoutMs: 120_000, tell });
  const dir = await mkdtemp(join(tmpdir(), 'rxlet-cri-'));
  const podLogsDir = join(dir, 'pods');
  const names = new TimestampedLogs(systemClock);
  const access = criAccess({ client, clock: systemClock, names });
  return {
    runtime: criRuntime({
      client,
      clock: systemClock,
      log: silentLogger,
      hints: containerEvents({
        client,
        clock: systemClock,
        random: Math.random,
        log: silentLogger,
        listed: listedHints({ listPods: (signal) => listPods(client, signal), clock: systemClock }),
      }),
      rootDir: join(dir, 'root'),
      podLogsDir,
      directories: new LogDirectories(podLogsDir, join(dir, 'containers'), silentLogger),
      names,
      seccompProfileRoot: join(dir, 'seccomp'),
      seccompDefault: false,
      selinux: false,
      node: aCriNode,
      features: new KnownFeatures(
        (signal) => engineFeatures({ client, cgroupVersion: undefined, cgroupDriver: 'cgroupfs' }, signal),
        systemClock,
      ),
    }),
    images: new CriImageService({
      client,
      clock: systemClock,
      podInfraContainerImage: 'rxlet/pause:1',
      lastFeatures: () => undefined,
      imagePullProgressDeadlineMs: 60_000,
    }),
    access,
    facts,
    image: IMAGE,
    makeImage: () => makeImage(endpoint.slice('unix://'.length)),
    handler: HANDLER,
    cpusets: true,
    madeWith: (id) => madeWith(client, id),
    dispose: async () => {
      access.close();
      client.close();
      await rm(dir, { recursive: true });
    },
  };
}

async function madeWith(client: CriClient, id: string): Promise<MadeWith> {
  const { containers } = await client.call(listContainers, { filter: { id } }, deadline());
  const sandbox = await client.call(podSandboxStatus, { podSandboxId: containers[0]?.podSandboxId ?? id, verbose: true }, deadline());
  // Newer versions tell it with the status.
  const { runtimeHandler = sandbox.status?.runtimeHandler } = json(sandbox.info['info']);
  const own = containers.length === 0 ? sandbox : await client.call(containerStatus, { containerId: id, verbose: true }, deadline());
  const { runtimeSpec, config } = json(own.info['info']);
  const { cgroupsPath, resources } = object(object(runtimeSpec)['linux']);
  const { cpus, mems } = object(object(resources)['cpu']);
  const { devices } = object(config);
  return {
    cgroupParent: dirname(String(cgroupsPath)),
    handler: typeof runtimeHandler === 'string' ? runtimeHandler : undefined,
    devices: (Array.isArray(devices) ? devices : []).map(object).map(({ host_path, container_path, permissions }) => ({
      hostPath: String(host_path),
      containerPath: String(container_path),
      permissions: String(permissions),
    })),
    cpuset: typeof cpus === 'string' ? cpus : '',
    cpusetMems: typeof mems === 'string' ? mems : '',
  };
}

const object = (value: unknown): JsonObject => (isJsonObject(value) ? value : {});
const json = (text: string | undefined): JsonObject => object(JSON.parse(text ?? '{}'));

/** From an archive without files, past CRI, which makes no images. It has two names, in two repositories. */
async function makeImage(socket: string): Promise<string> {
  const run = promisify(execFile);
  const dir = await mkdtemp(join(tmpdir(), 'rxlet-image-'));
  try {
    const names = ['spare', 'also-spare'].map((name) => `docker.io/library/${name}-${randomUUID()}:1`);
    const layer = Buffer.alloc(1024);
    const rootfs = { type: 'layers', diff_ids: [`sha256:${hash('sha256', layer)}`] };
    await writeFile(join(dir, 'layer.tar'), layer);
    await writeFile(join(dir, 'config.json'), JSON.stringify({ architecture: 'amd64', os: 'linux', author: names[0], config: {}, rootfs }));
    await writeFile(join(dir, 'manifest.json'), JSON.stringify([{ Config: 'config.json', RepoTags: names, Layers: ['layer.tar'] }]));
    await run('tar', ['-C', dir, '-cf', join(dir, 'image.tar'), 'manifest.json', 'config.json', 'layer.tar']);
    await run('ctr', ['-a', socket, '-n', 'k8s.io', 'images', 'import', '--no-unpack', join(dir, 'image.tar')]);
    return names[0] ?? '';
  } finally {
    await rm(dir, { recursive: true });
  }
}
