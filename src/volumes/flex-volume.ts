import { hash } from 'node:crypto';
import { realpath } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { errorText } from '../base/error-text.ts';
import { type FlexDriver, type FlexOptions, flexPlugin, isFlexDriver } from './flex-drivers.ts';
import { flexPlace, flexUniqueName } from './disks/flex-ends.ts';
import type { Mounts } from './mounts.ts';
import { makeMountPoint } from './volume-directory.ts';
import { type KindOf, type VolumeKind, VolumeRefusedError, type VolumeSource, type VolumeTask } from './volume-kind.ts';
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
      const { pod, name, directory, flex: drivers, hostFiles, giving, mounts } = task;
      const readOnly = task.readOnly || flex.readOnly === true;
      const { fsGroup, fsGroupChangePolicy: policy } = pod.spec.securityContext ?? {};
      // From before the agent was started.
      if (await isMounted(directory, mounts)) return { hostPath: directory, readOnly, isHosts: true };
      const driver = await drivers.find(flex.driver, signal);
      const ofVolume = {
        'kubernetes.io/fsType': flex.fsType ?? '',
        'kubernetes.io/readwrite': readOnly ? 'ro' : 'rw',
        'kubernetes.io/pvOrVolumeName': name,
      };
      const onNode = driver.can.attach
        ? await publishOnNode(driver, { ...ofVolume, ...flex.options }, flex, task, readOnly, signal)
        : undefined;
      await makeMountPoint(directory);
      const options = {
        ...ofVolume,
        'kubernetes.io/pod.name': pod.metadata.name,
        'kubernetes.io/pod.namespace': pod.metadata.namespace,
        'kubernetes.io/pod.uid': pod.metadata.uid,
        'kubernetes.io/serviceAccount.name': pod.spec.serviceAccountName ?? '',
        ...(fsGroup !== undefined && { 'kubernetes.io/mounterArgs.FsGroup': `${fsGroup}` }),
        ...(await secretsOf(flex.secretRef, task, signal)),
        ...flex.options,
      };
      if (!(await driver.mount(directory, options, signal))) {
        if (onNode === undefined) throw new Error('Not supported');
        await mounts.mount(directory, { type: 'bind', source: onNode, options: readOnly ? ['ro'] : [] }, signal);
      }
      if (fsGroup !== undefined && !readOnly && driver.can.fsGroup)
        await giving(() => hostFiles.run(giveToGroup, { directory, ownership: { fsGroup, policy, readOnly } }, signal));
      return { hostPath: directory, readOnly, isHosts: true, ...(!readOnly && driver.can.relabel && { isOwn: true }) };
    },
  };
  return kind;
};

/** Of a driver that attaches: mounted once for all pods. Resolves with where. */
function publishOnNode(
  driver: FlexDriver,
  options: FlexOptions,
  flex: NonNullable<VolumeSource['flexVolume']>,
  { pod, name, disks, nodeName }: VolumeTask,
  readOnly: boolean,
  signal: AbortSignal,
): Promise<string> {
  // The same for all pods that have it, however they use it.
  const { 'kubernetes.io/readwrite': _, ...identity } = options;
  return disks.publish(
    {
      uid: pod.metadata.uid,
      name,
      plugin: 'flexvolume',
      place: flexPlace(flex.driver, name),
      isBlock: false,
      fsType: flex.fsType ?? '',
      readOnly,
      mountOptions: [],
      uniqueName: flexUniqueName(flex.driver, name),
      // A driver's options may be secret.
      record: JSON.stringify({ identity: hash('sha256', JSON.stringify(identity)) }),
      attach: async (attaching, given) =>
        driver.waitForAttach(given ?? (await driver.attach(options, nodeName, attaching)), options, attaching),
      // Without a device there is nothing to mount.
      mountDevice: async (target, device, mounting) => (await driver.mountDevice(target, device, options, mounting)) || device === '',
    },
    signal,
  );
}

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
