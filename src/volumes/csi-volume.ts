import type { CsiSource } from '../ports/csi-volumes.ts';
import type { KindOf, VolumeKind, VolumeSource } from './volume-kind.ts';
import { giveToGroup } from './volume-ownership.ts';

const PLUGIN = 'kubernetes.io~csi';

/** What a CSI driver makes, of the pod's own or behind a claim. The driver takes it back, before anything of the pod's is removed. */
export const csiVolume: KindOf = (source) => {
  const asked = csiSource(source);
  if (asked === undefined) return undefined;
  const kind: VolumeKind = {
    plugin: PLUGIN,
    changes: false,
    takesMountOptions: true,
    setUp: async ({ pod, name, volume, readOnly, csi, hostFiles, giving }, signal) => {
      const { fsGroupChangePolicy: policy } = pod.spec.securityContext ?? {};
      const give = (directory: string, fsGroup: number, within: AbortSignal): Promise<void> =>
        giving(() => hostFiles.run(giveToGroup, { directory, ownership: { fsGroup, policy, readOnly } }, within));
      const hostPath = await csi.publish({ pod, name, volume, source: asked, readOnly, giveToGroup: give }, signal);
      const onlyRead = readOnly || ('inline' in asked && asked.inline.readOnly === true);
      const isLabelled = await csi.hasContext(hostPath);
      return { hostPath, readOnly: onlyRead, isHosts: true, ...(!onlyRead && !isLabelled && { isOwn: true }) };
    },
  };
  return kind;
};

/** Undefined for what no driver makes. */
export function csiSource({ csi, claimed }: VolumeSource): CsiSource | undefined {
  if (csi) return { inline: csi };
  return claimed?.persistent.spec?.csi ? claimed : undefined;
}
