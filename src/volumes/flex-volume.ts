import { realpath } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { errorText } from '../base/error-text.ts';
import { flexPlugin, isFlexDriver } from './flex-drivers.ts';
import type { Mounts } from './mounts.ts';
import { makeMountPoint } from './volume-directory.ts';
import { type KindOf, type VolumeKind, VolumeRefusedError, type VolumeTask } from './volume-kind.ts';
import { giveToGroup } from './volume-ownership.ts';

/** What a FlexVolume driver of the node mounts, of the pod's own or behind a claim. The driver unmounts it, before anything of the pod's is removed. */
export const flexVolume: KindOf = ({ flexVolume: flex }) => {
  if (!flex) return undefined;
  // The name is part of the path of the volume's directory, where what is mounted is shown.
  if (!isFlexDriver(flex.driver))
    throw new VolumeRefusedError(`no volume plugin matched: ${shown(flex.driver)} names no FlexVolume driver`);
  const kind: VolumeKind = {
    plugin: flexPlugin(flex.driver),
    changes: false,
    takesMountOptions: false,
    setUp: async (task, signal) => {
      const { pod, name, directory, flex: drivers, hostFiles, mounts } = task;
      const readOnly = task.readOnly || flex.readOnly === true;
      const { fsGroup, fsGroupChangePolicy: policy } = pod.spec.securityContext ?? {};
      // From before the agent was started.
      if (await isMounted(directory, mounts)) return { hostPath: directory, readOnly, isHosts: true };
      const driver = await drivers.find(flex.driver, signal);
      await makeMountPoint(directory);
      const options = {
        'kubernetes.io/fsType': flex.fsType ?? '',
        'kubernetes.io/readwrite': readOnly ? 'ro' : 'rw',
        'kubernetes.io/pvOrVolumeName': name,
        'kubernetes.io/pod.name': pod.metadata.name,
        'kubernetes.io/pod.namespace': pod.metadata.namespace,
        'kubernetes.io/pod.uid': pod.metadata.uid,
        'kubernetes.io/serviceAccount.name': pod.spec.serviceAccountName ?? '',
        ...(fsGroup !== undefined && { 'kubernetes.io/mounterArgs.FsGroup': `${fsGroup}` }),
        ...(await secretsOf(flex.secretRef, task, signal)),
        ...flex.options,
      };
      await driver.mount(directory, options, signal);
      if (fsGroup !== undefined && !readOnly && driver.can.fsGroup)
        await hostFiles.run(giveToGroup, { directory, ownership: { fsGroup, policy, readOnly } }, signal);
      return { hostPath: directory, readOnly, isHosts: true, ...(!readOnly && driver.can.relabel && { isOwn: true }) };
    },
  };
  return kind;
};

const shown = (driver: string): string => JSON.stringify(driver.slice(0, 200));

async function isMounted(directory: string, mounts: Mounts): Promise<boolean> {
  const above = await realpath(dirname(directory)).catch(() => undefined);
  return above !== undefined && (await mounts.below(above)).includes(join(above, basename(directory)));
}

/** In base64, as the driver gets them. Never logged. */
async function secretsOf(
  ref: { readonly name?: string; readonly namespace?: string } | undefined,
  { pod, facts }: VolumeTask,
  signal: AbortSignal,
): Promise<Readonly<Record<string, string>>> {
  if (!ref?.name) return {};
  const namespace = ref.namespace ?? pod.metadata.namespace;
  try {
    const { data = {} } = await facts.objects.get({ kind: 'Secret', namespace, name: ref.name }, signal);
    return Object.fromEntries(Object.entries(data).map(([key, value]) => [`kubernetes.io/secret/${key}`, value]));
  } catch (cause) {
    signal.throwIfAborted();
    throw new Error(`Couldn't get secret ${namespace}/${ref.name} err: ${errorText(cause)}`, { cause });
  }
}
