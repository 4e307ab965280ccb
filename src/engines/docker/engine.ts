import { totalmem } from 'node:os';
import { join } from 'node:path';
import { NEVER } from 'rxjs';
import { selinuxIsOn } from '../../base/selinux-is-on.ts';
import { type LogPolicy, parseLogPolicy } from '../../model/log-policy.ts';
import { swapBytes } from '../../model/swap-limit.ts';
import { exclusiveCpusAreUnlimited } from '../../options/exclusive-cpus.ts';
import type { KubeletOptions } from '../../options/kubelet-options.ts';
import { swapRules } from '../../options/swap-rules.ts';
import type { Engine } from '../../ports/engine.ts';
import type { Happenings } from '../../ports/happenings.ts';
import type { Ground } from '../../ports/node-parts.ts';
import type { PodsNetwork } from '../../ports/sandbox-network.ts';
import { dockerAccess } from './access/docker-access.ts';
import { DockerImageService } from './images/docker-image-service.ts';
import { ImageExports } from './images/image-exports.ts';
import { dockerRuntime } from './docker-runtime.ts';
import type { Dialect } from './client/dialect.ts';
import { engineClient } from './client/engine-client.ts';
import { LogLinks } from './logs/log-links.ts';
import { CONTAINER_LOGS_DIR } from '../common/logs/log-paths.ts';
import { logRotationNote } from './logs/log-rotation.ts';
import { logLinkSweeper } from './logs/log-link-sweeper.ts';
import { engineFeatures } from './observe/engine-features.ts';
import { KnownFeatures } from '../common/known-features.ts';
import { rootlessNote } from './observe/rootless-note.ts';
import { thisMachine } from './observe/rootless-machine.ts';
import { engineDataDirectory, RunningContainers } from './observe/running-containers.ts';

/** A Docker engine, or what serves the same API. `speaks`: which of them has answered; undefined: none yet. `network`: who connects the pods in its place; undefined: it does so itself. */
export function dockerEngine(
  { endpoint, name, speaks }: { readonly endpoint: string; readonly name: string; readonly speaks: Dialect['name'] | undefined },
  options: KubeletOptions,
  {
    live,
    clock,
    log,
    random,
    tell,
    cgroups,
    memory,
  }: Pick<Ground, 'live' | 'clock' | 'log' | 'random' | 'cgroups' | 'memory'> & { readonly tell: Pick<Happenings, 'engineCalled'> },
  network: PodsNetwork | undefined,
): Engine {
  const { runtimeRequestTimeoutMs, rootDir, podInfraContainerImage, imagePullProgressDeadlineMs, podLogsDir } = options;
  const client = engineClient({ endpoint, clock, requestTimeoutMs: runtimeRequestTimeoutMs, tell, speaks });
  const logLinks = new LogLinks(podLogsDir, CONTAINER_LOGS_DIR, log);
  const access = dockerAccess({ client, clock });
  const features = new KnownFeatures((signal) => engineFeatures(client, signal), clock);
  const logPolicy = (): LogPolicy | undefined => parseLogPolicy(live.now.containerLogMaxSize, live.now.containerLogMaxFiles);
  const exports = new ImageExports({ engine: client, rootDir, clock, log });
  const swap = swapRules(options, cgroups, memory);
  const runtime = dockerRuntime({
    client,
    features,
    clock,
    random,
    log,
    rootDir,
    podInfraContainerImage,
    seccompProfileRoot: options.seccompProfileRoot || join(rootDir, 'seccomp'),
    seccompDefault: options.seccompDefault,
    selinux: selinuxIsOn(),
    podLogsDir,
    logPolicy,
    logLinks,
    node: {
      memoryCapacityBytes: totalmem(),
      cpuCfsQuota: options.cpuCfsQuota,
      exclusiveCpus: exclusiveCpusAreUnlimited(options),
      cpuCfsQuotaPeriodUs: Math.round(options.cpuCfsQuotaPeriodMs * 1000),
      podPidsLimit: options.podPidsLimit,
      swapBytes: (pod, container) => swapBytes(pod, container, swap),
    },
    network: network?.sandboxes,
  });
  return {
    name,
    runtime,
    access,
    images: new DockerImageService({ engine: client, exports, clock, log, podInfraContainerImage, imagePullProgressDeadlineMs }),
    running: new RunningContainers(client),
    features: (signal) => features.now(signal),
    lastFeatures: () => features.last,
    dataDirectory: (signal) => engineDataDirectory(client, signal),
    imageBytes: async () => undefined,
    runtimeFault: () => undefined,
    networkFault: () => networkNotReady(network?.sandboxes.fault()),
    networkChanges: network?.changes ?? NEVER,
    services: ({ relists }) => [
      ...(network?.services({ relists, listPods: (signal) => runtime.listPods(signal) }) ?? []),
      logLinkSweeper({ clock, links: logLinks }),
      exports.sweeper,
      rootlessNote({ features, machine: thisMachine, clock, log }),
      logRotationNote({ features, policy: logPolicy(), clock, log }),
    ],
    close: () => {
      access.close();
      client.close();
    },
  };
}

/** As the kubelet words it from dockershim's answer (pkg/kubelet updateRuntimeUp, pkg/kubelet/dockershim Status). */
function networkNotReady(fault: string | undefined): string | undefined {
  if (fault === undefined) return undefined;
  const condition = `NetworkReady=false reason:NetworkPluginNotReady message:docker: network plugin is not ready: ${fault}`;
  return `runtime network not ready: ${condition}`;
}
