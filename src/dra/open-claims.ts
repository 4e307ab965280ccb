import { readFileSync } from 'node:fs';
import { aborted } from '../base/aborted.ts';
import { usualBootIdFiles } from '../base/machine-facts.ts';
import type { GrpcCallEnd } from '../base/grpc/grpc-client.ts';
import { unlessAborted } from '../base/unless-aborted.ts';
import type { PodUid } from '../model/pod.ts';
import { allContainers } from '../model/pod-predicates.ts';
import { featureGates } from '../options/feature-gates/feature-gates.ts';
import type { Contribution } from '../ports/contribution.ts';
import type { NodeParts } from '../ports/node-parts.ts';
import { CLAIM_STATE_FILE, type ClaimCheckpoint, claimsIn } from './claim-checkpoint.ts';
import { ClaimFaults } from './claim-faults.ts';
import { claimsInUseText } from './claims-in-use.ts';
import { ClaimStore } from './claim-store.ts';
import { type DeviceReport, DeviceHealths, healthOfContainer } from './device-health.ts';
import { DraPlugins } from './dra-plugins.ts';
import { unprepareOrphans } from './orphaned-claims.ts';
import { PodClaims } from './pod-claims.ts';
import type { PreparedDevice } from './prepared-device.ts';
import { ResourceApi } from './resource-api.ts';
import { hasClaims } from './resource-claim.ts';
import { SliceWiper } from './slice-wiper.ts';
import { watchHealth } from './watch-health.ts';

/** What the agent does about claims where there is an API server that has them. */
export function openClaims(node: NodeParts): Contribution {
  const { cluster, options, clock, random, log, events, files, pods, engine, wake, tell } = node;
  const api = new ResourceApi(cluster.clients.main);
  const store = new ClaimStore(files.open(CLAIM_STATE_FILE, decoded));
  const faults = new ClaimFaults();
  const gates = featureGates(options.featureGates);
  const healths = new DeviceHealths(clock);
  const wiper = new SliceWiper({ api, nodeName: node.node.name, clock, random, log });
  const plugins = new DraPlugins({
    // The first plugin loads it.
    open: async (driver, services, socketPath, onChange) => {
      const { openDraDriver } = await import('./dra-driver.ts');
      const onCallEnd = (call: GrpcCallEnd): void => tell.draDriverCalled({ driver, ...call });
      return openDraDriver(services, socketPath, { clock, random, onChange, onCallEnd });
    },
    watch: async (driver, { reports }, signal) => {
      if (reports === undefined || !gates.isOn('ResourceHealthStatus')) return;
      const wakePods = (isAnother: (device: PreparedDevice) => boolean): void => {
        for (const uid of store.podsWith(driver, isAnother)) wake(uid, 'resources changed');
      };
      const onReport = (devices: readonly DeviceReport[]): void => wakePods(healths.report(driver, devices));
      await watchHealth({ driver, reports, onReport, onEnd: () => wakePods(healths.forget(driver)), clock, log }, signal);
    },
    onRegistered: () => {
      for (const uid of faults.pods()) wake(uid, 'resources changed');
    },
    onChange: (driver, isThere) => {
      if (isThere) wiper.isBack(driver);
      else wiper.gone(driver);
    },
  });
  const claims = new PodClaims({ api, plugins, store, bootId: bootId(), clock, tell });
  const unprepare = (uid: PodUid, signal: AbortSignal): Promise<void> => faults.during(uid, () => claims.unprepare(uid, signal));
  return {
    plugins: [plugins],
    metricTexts: [async () => claimsInUseText(claims.inUse())],
    assigned: { claims: (pod, container) => claims.assignedTo(pod, container) },
    pod: {
      isPrepared: (pod) => claims.isPrepared(pod),
      prepare: async (pod, signal) => {
        await faults.during(
          pod.metadata.uid,
          () => claims.prepare(pod, signal),
          (why) => events.record(pod, 'Warning', 'FailedPrepareDynamicResources', `Failed to prepare dynamic resources: ${why}`),
        );
        return undefined;
      },
      container: async (pod, container) => {
        const cdiDevices = hasClaims(pod) ? claims.cdiDevicesOf(pod, container) : [];
        return cdiDevices.length > 0 ? { cdiDevices } : {};
      },
      resourceHealth: (uid) => {
        const pod = pods.get(uid)?.pod;
        if (pod === undefined || !hasClaims(pod)) return undefined;
        const known = { store, healths, tellsMessages: gates.isOn('ResourceHealthStatusMessage') };
        return Object.fromEntries(allContainers(pod.spec).map((each) => [each.name, healthOfContainer(pod, each, known)]));
      },
      tearDown: unprepare,
      release: unprepare,
      // The API server takes a claim from a pod that has ended, and the scheduler gives its devices to another (SyncTerminatingPod in pkg/kubelet).
      holdsEnd: (uid) => store.ofPod(uid).length > 0,
      remains: async (uid) => {
        const left = store.ofPod(uid).map(({ name }) => name);
        const why = faults.of(uid);
        return left.length === 0 ? undefined : `ResourceClaims ${left.join(', ')}${why === undefined ? '' : `: ${why}`}`;
      },
    },
    services: [
      {
        name: 'drivers of claims',
        stage: 'before pods',
        run: async (signal) => {
          wiper.begin();
          await aborted(signal);
          wiper.close();
          plugins.close();
        },
      },
      {
        name: 'claims of pods that are gone',
        stage: 'beside pods',
        run: async (signal) => {
          // None of a pod that comes later is an orphan's.
          const uids = store.podUids();
          if (uids.size > 0) await unlessAborted(pods.syncedOnce, signal);
          await unprepareOrphans({
            uids,
            isKnown: async (uid) => {
              if (pods.get(uid) !== undefined) return true;
              const { containers, sandboxes } = await engine.runtime.observePod(uid, signal);
              return containers.length > 0 || sandboxes.length > 0;
            },
            unprepare: (uid) => claims.unprepare(uid, signal),
            clock,
            log,
            signal,
          });
          await aborted(signal);
        },
      },
    ],
  };
}

const decoded = (json: unknown): ClaimCheckpoint | undefined => (claimsIn(json) === undefined ? undefined : (json as ClaimCheckpoint));

/** Empty where the kernel does not say. */
function bootId(): string {
  for (const path of usualBootIdFiles) {
    try {
      return readFileSync(path, 'utf8').trim();
    } catch {
      // Another may have it.
    }
  }
  return '';
}
