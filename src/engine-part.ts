import { join } from 'node:path';
import type { Observable } from 'rxjs';
import { chance } from './base/chance.ts';
import type { Clock } from './base/clock.ts';
import { withDeadline } from './base/with-deadline.ts';
import type { Logger } from './base/logger.ts';
import type { Service } from './base/service.ts';
import type { CniNetwork } from './network/cni/cni-network.ts';
import { cniConfiguration, cniSweep } from './network/cni/cni-services.ts';
import type { KubeletOptions } from './options/kubelet-options.ts';
import type { PodLifecycleEvents } from './pleg/pod-lifecycle-events.ts';
import type { ContainerAccess } from './ports/container-access.ts';
import type { ContainerRuntime } from './ports/container-runtime.ts';
import type { ImageService } from './ports/image-service.ts';
import type { OnEngineCall } from './ports/observers.ts';
import type { RunningPods } from './ports/running-pods.ts';

export interface EnginePart {
  readonly runtime: ContainerRuntime;
  readonly imageService: ImageService;
  readonly access: ContainerAccess;
  /** For those who measure. */
  readonly running: RunningPods;
  /** Where the engine keeps its data; undefined: not on this machine, or it does not say. */
  readonly dataDirectory: (signal: AbortSignal) => Promise<string | undefined>;
  /** Why no pod can be connected to the pods' network now, in the kubelet's words; undefined: it works. */
  readonly networkFault: () => string | undefined;
  /** Where plugins connect the pods, not the engine. */
  readonly podsNetwork?: {
    /** Emits when pods that waited may be connected, or in another way than before. */
    readonly changes: Observable<void>;
    readonly services: (pleg: Pick<PodLifecycleEvents, 'relists'>) => readonly Service[];
  };
  /** The engine lacks the pause image: the error names it. */
  readonly missingSandboxImage: (error: unknown) => string | undefined;
  /** What it needs done beside the pods, after they have been looked at. */
  readonly services: readonly Service[];
  /** Ends what is kept for the next call: connections, helper processes. */
  readonly close: () => void;
}

export interface EnginePartDeps {
  readonly clock: Clock;
  readonly log: Logger;
  readonly onCall?: OnEngineCall | undefined;
}

/** The engine behind --docker-endpoint: Docker, or the embedded one. Each is loaded only when it is asked for. */
export async function enginePart(options: KubeletOptions, { clock, log, onCall }: EnginePartDeps): Promise<EnginePart> {
  const { fakeEndpointOptions } = await import('./fakeengine/fake-endpoint.ts');
  const fakeOptions = fakeEndpointOptions(options.dockerEndpoint);
  if (fakeOptions) {
    const { fakeEngine } = await import('./fakeengine/fake-engine.ts');
    const { runtime, images, access, controls } = fakeEngine({ clock, log, ...fakeOptions });
    return {
      runtime,
      imageService: images,
      access,
      // Nothing of it has a process.
      running: { list: async () => [], stale: () => {} },
      dataDirectory: async () => undefined,
      networkFault: () => undefined,
      missingSandboxImage: () => undefined,
      services: [],
      close: () => controls.close(),
    };
  }
  const [{ engineClient }, { dockerRuntime }, { dockerAccess }, { DockerImageService }, { SandboxImageMissingError }, running, logLinks] =
    await Promise.all([
      import('./docker/engine-client.ts'),
      import('./docker/docker-runtime.ts'),
      import('./docker/docker-access.ts'),
      import('./docker/docker-image-service.ts'),
      import('./docker/run-sandbox.ts'),
      import('./docker/running-containers.ts'),
      import('./docker/log-link-sweeper.ts'),
    ]);
  const client = engineClient({
    endpoint: options.dockerEndpoint,
    clock,
    requestTimeoutMs: options.runtimeRequestTimeoutMs,
    ...(onCall && { onCall }),
  });
  const { rootDir, podInfraContainerImage, imagePullProgressDeadlineMs } = options;
  const network = options.networkPlugin === 'cni' ? await cniNetwork(options, clock, log) : undefined;
  const access = dockerAccess({ client, clock });
  const runtime = dockerRuntime({
    client,
    clock,
    random: chance,
    log,
    rootDir,
    podInfraContainerImage,
    ...(options.seccompProfileRoot !== '' && { seccompProfileRoot: options.seccompProfileRoot }),
    seccompDefault: options.seccompDefault,
    node: {
      cpuCfsQuota: options.cpuCfsQuota,
      cpuCfsQuotaPeriodUs: Math.round(options.cpuCfsQuotaPeriodMs * 1000),
      podPidsLimit: options.podPidsLimit,
    },
    ...(network && { network }),
  });
  return {
    runtime,
    access,
    running: new running.RunningContainers(client),
    dataDirectory: (signal) => running.engineDataDirectory(client, signal),
    imageService: new DockerImageService({ engine: client, clock, log, imagePullProgressDeadlineMs }),
    networkFault: () => {
      const fault = network?.fault();
      return fault === undefined ? undefined : networkNotReady(fault);
    },
    ...(network && { podsNetwork: { changes: network.changes, services: (pleg) => cniServices(network, pleg, runtime, clock, log) } }),
    missingSandboxImage: (error) => (error instanceof SandboxImageMissingError ? error.image : undefined),
    services: [logLinks.logLinkSweeper({ clock, log })],
    close: () => {
      access.close();
      client.close();
    },
  };
}

/** Loaded only where it is asked for. Its configuration is read once before the first pod comes. */
async function cniNetwork({ cniConfDir, cniBinDir, cniCacheDir, rootDir }: KubeletOptions, clock: Clock, log: Logger): Promise<CniNetwork> {
  const { CniNetwork } = await import('./network/cni/cni-network.ts');
  const network = new CniNetwork({
    confDir: cniConfDir,
    binDirs: cniBinDir.split(',').filter((directory) => directory !== ''),
    cacheDir: cniCacheDir,
    ledgerDir: join(rootDir, 'sandbox-networks'),
    clock,
    log,
  });
  const { signal } = new AbortController();
  await withDeadline(clock, CNI_LOAD_MS, 'reading the CNI configuration', signal, (within) => network.reload(within)).catch(
    (error: unknown) => log.warn('CNI configuration cannot be read', { error }),
  );
  return network;
}

/** Reading a configuration asks each of its plugins for its versions: one that hangs does not hold up the agent. */
const CNI_LOAD_MS = 10_000;

function cniServices(
  network: CniNetwork,
  { relists }: Pick<PodLifecycleEvents, 'relists'>,
  runtime: ContainerRuntime,
  clock: Clock,
  log: Logger,
): readonly Service[] {
  const deps = { network, clock, log };
  return [cniConfiguration(deps), cniSweep({ ...deps, relists, listPods: (signal) => runtime.listPods(signal) })];
}

/** As the kubelet words it from dockershim's answer (pkg/kubelet updateRuntimeUp, pkg/kubelet/dockershim Status). */
function networkNotReady(fault: string): string {
  const condition = `NetworkReady=false reason:NetworkPluginNotReady message:docker: network plugin is not ready: ${fault}`;
  return `runtime network not ready: ${condition}`;
}
