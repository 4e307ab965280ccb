import { systemClock } from '../../src/base/clock.ts';
import { noCsiVolumes } from '../../src/ports/csi-volumes.ts';
import { flexDrivers } from '../../src/volumes/flex-drivers.ts';
import { podVolumes, type PodVolumes, type PodVolumesDeps } from '../../src/volumes/pod-volumes.ts';
import { directHostFiles } from '../fakes/direct-host-files.ts';
import { noDisks } from '../fakes/no-disks.ts';
import { noGrowth } from '../fakes/no-growth.ts';
import { silentHappenings } from '../fakes/silent-happenings.ts';

type Own = Pick<PodVolumesDeps, 'rootDir' | 'mounts'> & Partial<Omit<PodVolumesDeps, 'factsFor'>>;
type Facts = ReturnType<PodVolumesDeps['factsFor']>;

/** Volumes of pods on this machine's file systems, without an engine, drivers, disks and an API server unless the test has some. */
export function podVolumesOn(own: Own, facts: Partial<Facts> = {}): PodVolumes {
  return podVolumes({
    hostFiles: directHostFiles,
    csi: () => noCsiVolumes,
    disks: noDisks,
    growth: noGrowth,
    nodeName: 'n1',
    flex: flexDrivers('/nowhere', systemClock),
    selinux: false,
    engineFeatures: async () => ({ handlers: [], supplementalGroupsPolicy: true, imageVolumes: 'never' }),
    images: { exportImage: () => Promise.reject(new Error('there is no engine')) },
    clock: systemClock,
    events: { record: () => {} },
    tell: silentHappenings,
    factsFor: () => ({
      objects: { get: absent },
      tokens: { get: async () => 'a.b.c' },
      allocatable: () => ({}),
      claims: { claim: absent, volume: absent },
      node: () => undefined,
      ...facts,
    }),
    ...own,
  });
}

const absent = (): Promise<never> => Promise.reject(new Error('there is no API server'));
