import { randomUUID } from 'node:crypto';
import { Readable } from 'node:stream';
import type { DeviceMapping } from 'dockerode';
import { isJsonObject } from '../../src/base/json-object.ts';
import { systemClock } from '../../src/base/clock.ts';
import { silentLogger } from '../../src/base/logger.ts';
import { dockerAccess } from '../../src/engines/docker/access/docker-access.ts';
import type { Dialect } from '../../src/engines/docker/client/dialect.ts';
import type { EngineClient } from '../../src/engines/docker/client/engine-client.ts';
import { fakeEngine } from '../../src/engines/fake/fake-engine.ts';
import type { ContainerAccess } from '../../src/ports/container-access.ts';
import { dockerUnderTest, testImage } from '../builders/docker-under-test.ts';
import type { EngineFacts, EngineUnderTest, MadeWith } from './runtime-world.ts';
import { dockerImages } from '../builders/docker-parts.ts';

/** The image that the embedded engine has. */
export const embeddedImage = 'busybox:1.35';

const dockersFacts: Omit<EngineFacts, 'name'> = {
  imageId: /^docker(-pullable)?:\/\/.*sha256:[0-9a-f]{64}$/,
  failedStart: { exitCode: 127, reason: 'ContainerCannotRun', startedAt: 'when it was created' },
  keepsInputOpen: true,
  namesStopSignals: true,
  absentImageFiles: /No such image/,
  tellsDevicePermissions: true,
};

const deadline = (): AbortSignal => AbortSignal.timeout(60_000);

/** Of the engines that serve the API of Docker. */
const factsOf: Readonly<Record<Dialect['name'], EngineFacts>> = {
  docker: { ...dockersFacts, name: 'docker' },
  podman: {
    ...dockersFacts,
    name: 'podman',
    // Its names are whole, and of an image that no registry has seen it makes a digest.
    imageId: /^docker\.io\/.*@sha256:[0-9a-f]{64}$/,
    // It says why, and no more.
    failedStart: { ...dockersFacts.failedStart, exitCode: 128 },
    // It never starts conmon with --leave-stdin-open.
    keepsInputOpen: false,
    absentImageFiles: /no such image/,
    tellsDevicePermissions: false,
  },
};

/** Behind both ports at once, so that each contract has the same engines. */
export async function embeddedUnderTest(): Promise<EngineUnderTest & { readonly access: ContainerAccess }> {
  const { runtime, images, access, controls } = fakeEngine({ clock: systemClock, log: silentLogger, latencyMs: 1, handlers: ['another'] });
  await images.pullImage(embeddedImage, undefined, () => {}, deadline());
  return {
    runtime,
    images,
    access,
    facts: { ...dockersFacts, name: 'fake' },
    image: embeddedImage,
    makeImage: async () => {
      const name = `spare-${randomUUID()}:1`;
      await images.pullImage(name, undefined, () => {}, deadline());
      return name;
    },
    handler: 'another',
    cpusets: true,
    madeWith: async (id) => {
      const given = controls.world().find((part) => part.id === id)?.given;
      const { cgroupParent, handler, devices = [], cpuset, cpusetMems } = given ?? {};
      return { cgroupParent, handler, devices, cpuset, cpusetMems };
    },
    dispose: async () => controls.close(),
  };
}

export async function realDockerUnderTest(): Promise<EngineUnderTest & { readonly access: ContainerAccess }> {
  const { client, runtime, dispose } = await dockerUnderTest();
  const access = dockerAccess({ client, clock: systemClock });
  const facts = factsOf[(await client.dialect(deadline())).name];
  const { handler, cpusets } = await (kernelFacts ??= askKernelFacts(client));
  return {
    runtime,
    images: dockerImages(client, systemClock),
    access,
    facts,
    image: facts.name === 'podman' ? `docker.io/library/${testImage}` : testImage,
    makeImage: () => makeImage(client),
    handler,
    cpusets,
    madeWith: async (id) => {
      const made = await madeWith(client, id);
      // Podman says so of each.
      return made.handler === 'oci' ? { ...made, handler } : made;
    },
    dispose: async () => {
      access.close();
      await dispose();
    },
  };
}

type KernelFacts = Pick<EngineUnderTest, 'handler' | 'cpusets'>;

/** Once for all sentences: some engines take seconds to say it. */
let kernelFacts: Promise<KernelFacts> | undefined;

/** The other handler is the one that hack/docker.sh adds; an engine of another make has at least its default, and Podman takes no other. */
async function askKernelFacts(client: EngineClient): Promise<KernelFacts> {
  const { Runtimes, DefaultRuntime, CPUSet } = await client.about('info', deadline());
  const { takesHandlers } = await client.dialect(deadline());
  const hasAnother = takesHandlers && isJsonObject(Runtimes) && 'another' in Runtimes;
  return { handler: hasAnother ? 'another' : String(DefaultRuntime), cpusets: CPUSet === true };
}

async function madeWith(client: EngineClient, id: string): Promise<MadeWith> {
  const info = await client.call(`GET /containers/${id}/json`, client.requestTimeoutMs, deadline(), (docker) =>
    docker.getContainer(id).inspect(),
  );
  const { CgroupParent, Runtime, CpusetCpus, CpusetMems } = info.HostConfig;
  const devices: readonly DeviceMapping[] | null = info.HostConfig.Devices;
  return {
    cgroupParent: CgroupParent,
    handler: Runtime,
    devices: (devices ?? []).map(({ PathOnHost, PathInContainer, CgroupPermissions }) => ({
      hostPath: PathOnHost,
      containerPath: PathInContainer,
      permissions: CgroupPermissions,
    })),
    cpuset: CpusetCpus,
    cpusetMems: CpusetMems,
  };
}

/** From an archive without files. It has two names, in two repositories. */
async function makeImage(client: EngineClient): Promise<string> {
  const repo = `spare-${randomUUID()}`;
  const empty = Readable.from([Buffer.alloc(1024)]);
  const imported = await client.open('POST /images/create?fromSrc=-', client.requestTimeoutMs, deadline(), (docker) =>
    docker.importImage(empty, { repo, tag: '1' }),
  );
  for await (const part of imported) void part;
  await client.call(`POST /images/${repo}:1/tag`, client.requestTimeoutMs, deadline(), (docker) =>
    docker.getImage(`${repo}:1`).tag({ repo: `also-${repo}`, tag: '2' }),
  );
  return `${repo}:1`;
}
