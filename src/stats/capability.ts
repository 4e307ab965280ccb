import { aborted } from '../base/aborted.ts';
import { unlessAborted } from '../base/unless-aborted.ts';
import { cgroupPath, podsCgroup } from '../model/cgroup-name.ts';
import type { Contribution, Given } from '../ports/contribution.ts';
import type { NodeParts } from '../ports/node-parts.ts';
import type { PodStats } from '../ports/pod-stats.ts';
import { podStats } from './pod-stats.ts';
import { statsRoutes, volumeText } from './stats-routes.ts';

/** What the node and its pods use, measured when asked for. */
export function capability({ options, clock, cgroups, engine, pods, statuses, hostFiles }: NodeParts): Contribution {
  const paths = { root: '/', machineIdFiles: options.machineIdFiles, bootIdFiles: options.bootIdFiles };
  const opened = Promise.withResolvers<PodStats>();
  const stats: PodStats = {
    node: async (signal, only) => (await opened.promise).node(signal, only),
    pods: async (signal, how) => (await opened.promise).pods(signal, how),
  };
  const run = async (signal: AbortSignal, { csi }: Pick<Given, 'csi'>): Promise<void> => {
    const own = podStats({
      clock,
      cgroups,
      running: engine.running,
      pods,
      csi: (uid, name, asker) => csi.usage(uid, name, asker),
      statuses,
      rootDir: options.rootDir,
      imageDir: (asker) => engine.dataDirectory(asker),
      imageBytes: (asker) => engine.imageBytes(asker),
      hostFiles,
      daemonCgroups: { kubelet: options.kubeletCgroups, runtime: options.runtimeCgroups, misc: options.systemCgroups },
      podsCgroup: () => {
        const ofEngine = engine.lastFeatures()?.cgroups;
        return ofEngine && options.cgroupsPerQos ? cgroupPath(podsCgroup(options.cgroupRoot, true), ofEngine.driver) : undefined;
      },
    });
    opened.resolve(own);
    await aborted(signal);
    own.close();
  };
  return {
    routes: statsRoutes({ stats, runtime: engine.runtime, nodeName: options.nodeName, clock, paths }),
    metricTexts: [volumeText(stats)],
    stats,
    // Before the server, and until it has stopped.
    services: [
      {
        name: 'stats',
        stage: 'beside pods',
        run,
        ready: async (signal) => void (await unlessAborted(opened.promise, signal)),
      },
    ],
  };
}
