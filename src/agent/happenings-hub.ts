import type { Logger } from '../base/logger.ts';
import type { HappeningKinds, Happenings } from '../ports/happenings.ts';

type Hear<K extends keyof HappeningKinds> = (what: HappeningKinds[K]) => void;

export interface HappeningsHub {
  readonly tell: Happenings;
  /** Calls it with everything that happens from now on, of the kinds that it has. */
  readonly add: (listener: Partial<Happenings>) => void;
}

/**
 * Each call of `tell` calls the listeners of its kind, in the order in which they were added, before it returns. A listener that throws is
 * logged once for each kind, and hurts neither the caller nor the other listeners.
 */
export function happeningsHub(log: Pick<Logger, 'error'>): HappeningsHub {
  const adders: ((listener: Partial<Happenings>) => void)[] = [];
  const kind = <K extends keyof HappeningKinds>(name: K): Hear<K> => {
    // Replaced, not changed: one that is added meanwhile hears of the next.
    let hearers: readonly Hear<K>[] = [];
    adders.push((listener) => {
      if (listener[name] === undefined) return;
      let hasFailed = false;
      const hear: Hear<K> = (what) => {
        try {
          // Called as the listener's own method: it may be an object with state.
          listener[name]?.(what);
        } catch (error) {
          if (!hasFailed) log.error('listener failed', { happening: name, error });
          hasFailed = true;
        }
      };
      hearers = [...hearers, hear];
    });
    return (what) => {
      for (const hear of hearers) hear(what);
    };
  };
  return {
    tell: {
      relisted: kind('relisted'),
      engineCalled: kind('engineCalled'),
      runtimeOperated: kind('runtimeOperated'),
      apiRequested: kind('apiRequested'),
      apiRequestWaited: kind('apiRequestWaited'),
      reconciled: kind('reconciled'),
      noted: kind('noted'),
      stepBegun: kind('stepBegun'),
      eventRecorded: kind('eventRecorded'),
      manifestRead: kind('manifestRead'),
      manifestGone: kind('manifestGone'),
      manifestsCollided: kind('manifestsCollided'),
      mirrorTried: kind('mirrorTried'),
      reclaimWaits: kind('reclaimWaits'),
      leaseTried: kind('leaseTried'),
      keyReady: kind('keyReady'),
      keyStarted: kind('keyStarted'),
      keyEnded: kind('keyEnded'),
      keyRetried: kind('keyRetried'),
      probeExecuted: kind('probeExecuted'),
      probeTried: kind('probeTried'),
      imagePulling: kind('imagePulling'),
      imagePulled: kind('imagePulled'),
      imageRemoved: kind('imageRemoved'),
      imageChecked: kind('imageChecked'),
      imageEnsured: kind('imageEnsured'),
      imageVolumesShown: kind('imageVolumesShown'),
      healthChecked: kind('healthChecked'),
      volumeMounted: kind('volumeMounted'),
      storageOperated: kind('storageOperated'),
      deferredResizeAccepted: kind('deferredResizeAccepted'),
      resizeInfeasible: kind('resizeInfeasible'),
      cgroupOperated: kind('cgroupOperated'),
      podEnded: kind('podEnded'),
      podEvicted: kind('podEvicted'),
      evictionStatsUsed: kind('evictionStatsUsed'),
      podPreempted: kind('podPreempted'),
      nodeShutdown: kind('nodeShutdown'),
      certificateInUse: kind('certificateInUse'),
      certificateRenewed: kind('certificateRenewed'),
      certificateRenewFailed: kind('certificateRenewFailed'),
      cpusAsked: kind('cpusAsked'),
      memoryAsked: kind('memoryAsked'),
      cpusAssigned: kind('cpusAssigned'),
      topologyAligned: kind('topologyAligned'),
      devicePluginRegistered: kind('devicePluginRegistered'),
      devicesAllocated: kind('devicesAllocated'),
      claimsHandled: kind('claimsHandled'),
      draDriverCalled: kind('draDriverCalled'),
      csiDriverCalled: kind('csiDriverCalled'),
      credentialProvidersRead: kind('credentialProvidersRead'),
      credentialProviderAsked: kind('credentialProviderAsked'),
      podResourcesAsked: kind('podResourcesAsked'),
      requestBegun: kind('requestBegun'),
      requestEnded: kind('requestEnded'),
    },
    add: (listener) => adders.forEach((add) => add(listener)),
  };
}
