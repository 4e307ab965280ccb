import { join } from 'node:path';
import { selinuxIsOn } from '../../base/selinux-is-on.ts';
import { parseLogPolicy } from '../../model/log-policy.ts';
import { exclusiveCpusAreUnlimited } from '../../options/exclusive-cpus.ts';
import type { KubeletOptions } from '../../options/kubelet-options.ts';
import { imageEndpoint } from '../../options/named-engine.ts';
import { swapRules } from '../../options/swap-rules.ts';
import type { Engine } from '../../ports/engine.ts';
import type { Happenings } from '../../ports/happenings.ts';
import type { Ground } from '../../ports/node-parts.ts';
import { KnownFeatures } from '../common/known-features.ts';
import { CONTAINER_LOGS_DIR } from '../common/logs/log-paths.ts';
import { criAccess } from './access/cri-access.ts';
import { openCriClient } from './client/cri-client.ts';
import type { CriNode } from './containers/linux-resources.ts';
import { criRuntime } from './cri-runtime.ts';
import { engineFeatures } from './features/engine-features.ts';
import { RuntimeStatus } from './features/runtime-status.ts';
import { usePodCidr } from './features/use-pod-cidr.ts';
import { CriImageService } from './images/cri-image-service.ts';
import { LogDirectories } from './logs/log-directories.ts';
import { logRotation } from './logs/log-rotation.ts';
import { LoggingContainers } from './logs/logging-containers.ts';
import { TimestampedLogs } from './logs/timestamped-logs.ts';
import { containerEvents } from './observe/container-events.ts';
import { imageBytes, imageDirectory } from './observe/image-directory.ts';
import { listedHints } from './observe/listed-hints.ts';
import { listPods } from './observe/list-pods.ts';
import { RunningContainers } from './observe/running-containers.ts';

export type CriGround = Pick<Ground, 'live' | 'clock' | 'log' | 'random' | 'cgroups' | 'memory'> & {
  readonly tell: Pick<Happenings, 'engineCalled'>;
};

/** A container runtime that speaks CRI v1, such as containerd. The pods' network is its own. `name`: as it says itself. */
export function criEngine(
  { endpoint, name }: { readonly endpoint: string; readonly name: string },
  options: KubeletOptions,
  ground: CriGround,
): Engine {
  const { live, clock, log, random, tell, cgroups } = ground;
  const { rootDir, podLogsDir, podInfraContainerImage, imagePullProgressDeadlineMs, runtimeRequestTimeoutMs: requestTimeoutMs } = options;
  const client = openCriClient({ endpoint, imageEndpoint: imageEndpoint(options), clock, random, requestTimeoutMs, tell });
  const names = new TimestampedLogs(clock);
  const access = criAccess({ client, clock, names });
  const logging = new LoggingContainers(client, podLogsDir);
  const asked = {
    client,
    cgroupVersion: cgroups.version,
    cgroupDriver: options.cgroupDriver === 'systemd' ? 'systemd' : 'cgroupfs',
  } as const;
  const features = new KnownFeatures((signal) => engineFeatures(asked, signal), clock);
  const status = new RuntimeStatus({ client, features, clock, log });
  const runtime = criRuntime({
    client,
    clock,
    log,
    hints: containerEvents({ client, clock, random, log, listed: listedHints({ listPods: (signal) => listPods(client, signal), clock }) }),
    rootDir,
    podLogsDir,
    directories: new LogDirectories(podLogsDir, CONTAINER_LOGS_DIR, log),
    names,
    seccompProfileRoot: options.seccompProfileRoot || join(rootDir, 'seccomp'),
    seccompDefault: options.seccompDefault,
    selinux: selinuxIsOn(),
    node: limitingNode(options, ground),
    features,
  });
  return {
    name,
    runtime,
    access,
    images: new CriImageService({
      client,
      clock,
      podInfraContainerImage,
      lastFeatures: () => features.last,
      imagePullProgressDeadlineMs,
    }),
    running: new RunningContainers(client),
    features: (signal) => features.now(signal),
    lastFeatures: () => features.last,
    dataDirectory: (signal) => imageDirectory(client, signal),
    imageBytes: (signal) => imageBytes(client, signal),
    runtimeFault: () => status.fault(),
    networkFault: () => status.networkFault(),
    networkChanges: status.networkChanges,
    usePodCidr: (podCidr, signal) => usePodCidr(client, podCidr, signal),
    services: () => [
      status.service,
      logRotation({
        settings: () => ({
          policy: parseLogPolicy(live.now.containerLogMaxSize, live.now.containerLogMaxFiles),
          intervalMs: live.now.containerLogMonitorIntervalMs,
          workers: live.now.containerLogMaxWorkers,
        }),
        names,
        running: (signal) => logging.list(signal),
        reopen: (id, signal) => logging.reopen(id, signal),
        clock,
        log,
      }),
    ],
    close: () => {
      access.close();
      client.close();
    },
  };
}

/** What is set as a container is made. Of MemoryQoS, which takes what the node can give, its settings are made as soon as it runs. */
function limitingNode(options: KubeletOptions, { cgroups, memory }: CriGround): CriNode {
  return {
    ...swapRules(options, cgroups, memory),
    allocatableMemory: memory.bytes,
    cpuCfsQuota: options.cpuCfsQuota,
    cpuCfsQuotaPeriodUs: Math.round(options.cpuCfsQuotaPeriodMs * 1000),
    singleProcessOomKill: options.singleProcessOomKill ?? false,
    memoryQos: false,
    memoryReservationPolicy: 'None',
    memoryThrottlingFactor: options.memoryThrottlingFactor,
    hugePageSizes: [],
    exclusiveCpus: exclusiveCpusAreUnlimited(options),
  };
}
