import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { containerCreateRequest } from '../../../src/engines/docker/containers/container-create-request.ts';
import { type CreateRequest, dockerCgroupParent } from '../../../src/engines/docker/containers/create-body.ts';
import { sandboxCreateRequest } from '../../../src/engines/docker/sandbox/sandbox-create-request.ts';
import { seccompOpts } from '../../../src/engines/docker/containers/seccomp.ts';
import { seccompProfile } from '../../../src/engines/common/containers/seccomp-profile.ts';
import { type ImageUser, nonRootViolation } from '../../../src/engines/common/containers/security-context.ts';
import { messagePath } from '../../../src/engines/common/containers/termination-messages.ts';
import { HASH_ANNOTATION } from '../../../src/engines/common/identity/container-labels.ts';
import { wholeContainerHash } from '../../../src/model/container-hash.ts';
import { expand, lookupIn } from '../../../src/model/expansion.ts';
import { kernelHostname } from '../../../src/model/kernel-hostname.ts';
import type { Container, Pod } from '../../../src/model/pod.ts';
import type { ContainerSpec, Mount } from '../../../src/ports/container-runtime.ts';

interface Input {
  readonly kind: 'container' | 'sandbox';
  readonly pod: Pod;
  readonly imageRef?: string;
  readonly imageUser?: { readonly uid?: number; readonly username?: string };
  readonly restartCount?: number;
  readonly attempt?: number;
  readonly options?: {
    readonly Envs?: readonly { readonly Name: string; readonly Value: string }[];
    readonly Mounts?: readonly {
      readonly HostPath: string;
      readonly ContainerPath: string;
      readonly ReadOnly?: boolean;
      readonly Propagation?: '' | 'private' | 'hostToContainer' | 'bidirectional';
    }[];
    readonly Devices?: readonly { readonly PathOnHost: string; readonly PathInContainer: string; readonly Permissions: string }[];
    readonly PodContainerDir?: string;
    readonly Annotations?: readonly { readonly Name: string; readonly Value: string }[];
  };
  readonly extraSupplementalGroups?: readonly number[];
  readonly cgroupParent?: string;
  readonly cgroupDriver?: 'cgroupfs' | 'systemd';
  readonly cpuCFSQuota?: boolean;
  readonly hostname?: string;
  readonly domain?: string;
  readonly networkPlugin?: string;
}

type ExpandedCommand = Pick<ContainerSpec, 'command' | 'args'>;

const profileRoot = '/tmp/zz-vectors-seccomp';
const allow = '{"defaultAction": "SCMP_ACT_ALLOW",\n "syscalls": [ ]}\n';
for (const [file, text] of [
  ['audit.json', allow],
  ['sub/b.json', allow],
  ['broken.json', '{'],
] as const) {
  mkdirSync(dirname(join(profileRoot, file)), { recursive: true });
  writeFileSync(join(profileRoot, file), text);
}

export async function run(input: Input): Promise<object> {
  return input.kind === 'sandbox' ? sandbox(input) : container(input);
}

function sandbox(input: Input): object {
  const { pod, attempt = 0, networkPlugin, extraSupplementalGroups = [] } = input;
  let hostname: string | undefined;
  try {
    const asFqdn = pod.spec.setHostnameAsFQDN;
    if (!pod.spec.hostNetwork) hostname = kernelHostname(input.hostname ?? '', input.domain ?? '', asFqdn);
  } catch (error) {
    return failed(error, 'kubelet');
  }
  try {
    const request = sandboxCreateRequest({
      pod,
      attempt,
      image: 'k8s.gcr.io/pause:3.2',
      hostname,
      handler: undefined,
      network: networkPlugin === 'cni' ? 'plugin' : 'docker',
      cgroupParent: dockerCgroupParent(input.cgroupParent ?? '', input.cgroupDriver ?? 'cgroupfs'),
      extraSupplementalGroups,
    });
    return created(request);
  } catch (error) {
    return failed(error, 'dockershim');
  }
}

async function container(input: Input): Promise<object> {
  const { pod, imageRef = '', options = {}, restartCount = 0, extraSupplementalGroups = [] } = input;
  const [of] = pod.spec.containers;
  if (!of) throw new Error('a pod without containers');
  const imageUser = toImageUser(input.imageUser);
  const violation = nonRootViolation(pod, of, imageUser);
  if (violation !== undefined) return { step: 'kubelet', error: violation };
  const env = (options.Envs ?? []).map(({ Name, Value }) => ({ name: Name, value: Value }));
  let seccomp: readonly string[];
  try {
    seccomp = await seccompOpts(seccompProfile(pod, of, profileRoot));
  } catch (error) {
    const why = `failed to generate security options for container "${of.name}": failed to generate seccomp security options for container`;
    return failed(error, 'dockershim', `${why}: `);
  }
  const request = containerCreateRequest({
    pod,
    asksForOneMount: false,
    logConfig: undefined,
    spec: {
      container: of,
      attempt: restartCount,
      imageRef,
      env,
      ...expanded(of, env),
      mounts: mounts(options, of),
      annotations: Object.fromEntries((options.Annotations ?? []).map(({ Name, Value }) => [Name, Value])),
      devices: options.Devices?.map(({ PathOnHost, PathInContainer, Permissions }) => ({
        hostPath: PathOnHost,
        containerPath: PathInContainer,
        permissions: Permissions,
      })),
    },
    sandboxId: 'sb-id',
    imageUser,
    seccomp,
    node: { memoryCapacityBytes: 8 * 2 ** 30, cpuCfsQuota: input.cpuCFSQuota ?? true, cpuCfsQuotaPeriodUs: 100_000, podPidsLimit: -1 },
    podLogsDir: '/var/log/pods',
    cgroupParent: dockerCgroupParent(input.cgroupParent ?? '', input.cgroupDriver ?? 'cgroupfs'),
    extraSupplementalGroups,
  });
  // Kubernetes 1.20 noted the hash of the whole container; today it is one of name and image.
  const Labels = { ...request.body.Labels, [`annotation.${HASH_ANNOTATION}`]: wholeContainerHash(of) };
  return created({ ...request, body: { ...request.body, Labels } });
}

function expanded({ command, args }: Container, env: readonly { readonly name: string; readonly value: string }[]): ExpandedCommand {
  const lookup = lookupIn(new Map(env.map(({ name, value }) => [name, value])));
  return { command: command?.map((part) => expand(part, lookup)), args: args?.map((part) => expand(part, lookup)) };
}

function mounts({ Mounts = [], PodContainerDir }: NonNullable<Input['options']>, { terminationMessagePath }: Container): Mount[] {
  const given = Mounts.map(({ HostPath, ContainerPath, ReadOnly, Propagation }) => ({
    hostPath: HostPath,
    containerPath: ContainerPath,
    readOnly: ReadOnly === true,
    ...(Propagation && { propagation: Propagation }),
  }));
  if (!PodContainerDir || !terminationMessagePath) return given;
  const message = {
    hostPath: join(PodContainerDir, '<8 random hex digits>'),
    containerPath: messagePath(terminationMessagePath),
    readOnly: false,
  };
  return [...given, message];
}

function toImageUser(user: Input['imageUser']): ImageUser {
  return user?.username && user.uid === undefined ? { username: user.username } : { uid: BigInt(user?.uid ?? 0) };
}

function created({ name, body: { HostConfig, ...Config } }: CreateRequest): object {
  // Docker's client adds the shared memory's size afterwards.
  return { create: { Name: name, Config, HostConfig: { ...HostConfig, ShmSize: undefined } } };
}

function failed(error: unknown, step: string, before = ''): object {
  return { step, error: before + (error instanceof Error ? error.message : String(error)) };
}

/** Zero values are left out of the vectors, but for the empty objects in the set ExposedPorts and empty texts within lists. */
export function same(actual: unknown, expected: unknown): boolean {
  return isDeepStrictEqual(withoutZeros(actual), withoutZeros(expected));
}

function withoutZeros(value: unknown, keepEmpty = false): unknown {
  if (Array.isArray(value)) return value.map((item) => withoutZeros(item));
  if (typeof value !== 'object' || value === null) return value;
  const kept = Object.entries(value)
    .map(([key, item]) => [key, withoutZeros(item, key === 'ExposedPorts')] as const)
    .filter(([, item]) => keepEmpty || !isZero(item))
    .sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(kept);
}

function isZero(value: unknown): boolean {
  if (typeof value === 'object' && value !== null) return Object.keys(value).length === 0;
  return value === undefined || value === null || value === '' || value === 0 || value === false;
}
