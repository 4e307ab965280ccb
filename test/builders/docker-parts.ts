import type { Clock } from '../../src/base/clock.ts';
import { silentLogger } from '../../src/base/logger.ts';
import { type EngineClient, engineClient, type EngineClientOptions } from '../../src/engines/docker/client/engine-client.ts';
import { dockerRuntime, type DockerRuntimeOptions } from '../../src/engines/docker/docker-runtime.ts';
import { KnownFeatures } from '../../src/engines/common/known-features.ts';
import { engineFeatures } from '../../src/engines/docker/observe/engine-features.ts';
import { DockerImageService, type DockerImageServiceOptions } from '../../src/engines/docker/images/docker-image-service.ts';
import { ImageExports } from '../../src/engines/docker/images/image-exports.ts';
import { LogLinks } from '../../src/engines/docker/logs/log-links.ts';
import type { ContainerRuntime } from '../../src/ports/container-runtime.ts';

/** With the kubelet's deadline, and told to no one. Docker, where nothing else is said. */
export const anEngineClient = (endpoint: string, clock: Clock, over: Partial<EngineClientOptions> = {}): EngineClient =>
  engineClient({ endpoint, clock, requestTimeoutMs: 120_000, tell: { engineCalled: () => {} }, speaks: 'docker', ...over });

/** With defaults but for the log links, which are for a directory that is not there. */
export const aDockerRuntime = (client: EngineClient, clock: Clock, over: Partial<DockerRuntimeOptions> = {}): ContainerRuntime =>
  dockerRuntime({
    client,
    features: new KnownFeatures((signal) => engineFeatures(client, signal), clock),
    clock,
    random: () => 0.5,
    log: silentLogger,
    rootDir: '/dev/null/rxlet',
    podInfraContainerImage: 'pause',
    seccompProfileRoot: '/nonexistent/seccomp',
    seccompDefault: false,
    selinux: false,
    podLogsDir: '/dev/null/pods',
    logPolicy: () => undefined,
    logLinks: new LogLinks('/dev/null/pods', '/dev/null/containers', silentLogger),
    node: { memoryCapacityBytes: 8 * 2 ** 30, cpuCfsQuota: true, cpuCfsQuotaPeriodUs: 100_000, podPidsLimit: -1 },
    network: undefined,
    ...over,
  });

/** With the kubelet's deadline for pulls that make no progress. */
export const dockerImages = (engine: EngineClient, clock: Clock, over: Partial<DockerImageServiceOptions> = {}): DockerImageService =>
  new DockerImageService({
    engine,
    exports: new ImageExports({ engine, rootDir: '/dev/null/rxlet', clock, log: silentLogger }),
    clock,
    log: silentLogger,
    podInfraContainerImage: 'pause',
    imagePullProgressDeadlineMs: 60_000,
    ...over,
  });
