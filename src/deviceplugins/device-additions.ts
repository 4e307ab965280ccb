import { toBinary } from '@bufbuild/protobuf';
import type { Mount } from '../ports/container-runtime.ts';
import type { ContainerAdditions } from '../ports/pod-participant.ts';
import { type ContainerAllocateResponse, ContainerAllocateResponseSchema } from './api/deviceplugin_pb.js';
import type { ContainerDevices } from './device-allocations.ts';

/** Of each kind: far more than devices need. */
const MOST_PARTS = 1000;
/** It is written down with that of all other containers. */
const MOST_BYTES = 256 << 10;

/** Why a container cannot be made with what a plugin says of its devices; undefined: it can. */
export function allocationFault(response: ContainerAllocateResponse): string | undefined {
  const { envs, mounts, devices, annotations, cdiDevices } = response;
  const counts = [Object.keys(envs), mounts, devices, Object.keys(annotations), cdiDevices].map(({ length }) => length);
  if (counts.some((count) => count > MOST_PARTS)) return `more than ${MOST_PARTS} parts of one kind`;
  if (toBinary(ContainerAllocateResponseSchema, response).length > MOST_BYTES) return `more than ${MOST_BYTES} bytes`;
  for (const [name, value] of Object.entries(envs))
    if (name === '' || /[=\0]/.test(name) || value.includes('\0')) return `the environment variable ${quoted(name)}`;
  for (const { hostPath, containerPath } of [...mounts, ...devices])
    for (const path of [hostPath, containerPath]) if (!isPath(path)) return `the path ${quoted(path)}`;
  for (const { permissions } of devices) if (!/^[rwm]{0,3}$/.test(permissions)) return `the permissions ${quoted(permissions)}`;
  for (const { name } of cdiDevices) if (!cdiName.test(name)) return `the CDI device ${quoted(name)}`;
  return undefined;
}

/** An engine would take a colon as the end of it. */
const isPath = (path: string): boolean => path.startsWith('/') && path.length <= 4096 && !/[\p{Cc}:]/u.test(path);
/** vendor.com/class=name (pkg/parser in tags.cncf.io/container-device-interface). */
const cdiName = /^[A-Za-z][A-Za-z0-9_.-]*\/[A-Za-z][A-Za-z0-9_-]*=[A-Za-z0-9][A-Za-z0-9_.:-]*$/;
const quoted = (text: string): string => JSON.stringify(text.slice(0, 80));

/**
 * What a container is given for its devices, those of all resources together: of one name or place the first counts, and what the pod's spec
 * says of its environment before all (deviceRunContainerOptions in pkg/kubelet/cm/devicemanager). `onConflict` hears of others that differ.
 */
export function deviceAdditions(
  resources: ContainerDevices,
  ownEnv: ReadonlyMap<string, string>,
  onConflict: (what: string) => void,
): ContainerAdditions {
  const env = new Map<string, string>();
  const devices = new Map<string, NonNullable<ContainerAdditions['devices']>[number]>();
  const mounts = new Map<string, Mount>();
  const annotations = new Map<string, string>();
  const cdiDevices = new Set<string>();
  const add = <T>(to: Map<string, T>, key: string, value: T, text: (value: T) => string, what: string): void => {
    const known = to.get(key);
    if (known === undefined) to.set(key, value);
    else if (text(known) !== text(value)) onConflict(`${what} ${key}: ${text(known)} and ${text(value)}`);
  };
  const self = (value: string): string => value;
  for (const [, { response }] of [...resources].toSorted(([a], [b]) => (a < b ? -1 : 1))) {
    for (const [name, value] of sorted(response.envs)) if (!ownEnv.has(name)) add(env, name, value, self, 'environment variable');
    for (const { hostPath, containerPath, permissions } of response.devices)
      add(devices, containerPath, { hostPath, containerPath, permissions }, (one) => one.hostPath, 'device');
    for (const { hostPath, containerPath, readOnly } of response.mounts)
      add(mounts, containerPath, { hostPath, containerPath, readOnly }, (one) => one.hostPath, 'mount');
    for (const [name, value] of sorted(response.annotations)) add(annotations, name, value, self, 'annotation');
    for (const { name } of response.cdiDevices) cdiDevices.add(name);
  }
  return {
    env: [...env].map(([name, value]) => ({ name, value })),
    devices: [...devices.values()],
    mounts: [...mounts.values()],
    annotations: Object.fromEntries(annotations),
    cdiDevices: [...cdiDevices],
  };
}

const sorted = (entries: Readonly<Record<string, string>>): readonly (readonly [string, string])[] =>
  Object.entries(entries).toSorted(([a], [b]) => (a < b ? -1 : 1));
