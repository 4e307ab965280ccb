import { isIP } from 'node:net';
import type { Pod, PodCondition, PodUid, ContainerStatus } from '../../../src/model/pod.ts';
import type { ProbeResult } from '../../../src/model/probe-result.ts';
import { Quantity } from '../../../src/model/quantity.ts';
import type { ContainerId, ContainerState, ObservedContainer, SandboxId } from '../../../src/ports/container-runtime.ts';
import { sandboxChanged } from '../../../src/agent/reconcile/sandbox-changed.ts';
import type { PodCgroup } from '../../../src/agent/status/actual-resources.ts';
import { generatePodStatus } from '../../../src/agent/status/generate-pod-status.ts';

interface GivenContainer {
  readonly id: string;
  readonly name: string;
  readonly state: ContainerState['phase'];
  readonly createdAt?: string;
  readonly startedAt?: string;
  readonly finishedAt?: string;
  readonly exitCode?: number;
  readonly restartCount?: number;
  readonly image?: string;
  readonly imageRef?: string;
  readonly reason?: string;
  readonly message?: string;
  readonly resources?: Readonly<Record<'cpuRequest' | 'cpuLimit' | 'memoryRequest' | 'memoryLimit', string | undefined>>;
  readonly user?: { readonly uid: number; readonly gid: number; readonly supplementalGroups?: readonly number[] };
  readonly oldSandbox?: boolean;
}
interface ResizeCondition {
  readonly reason: string;
  readonly message?: string;
  readonly generation?: number;
}
interface In {
  readonly pod: Pod;
  readonly containers?: readonly GivenContainer[];
  readonly sandboxes?: readonly {
    readonly id: string;
    readonly state: string;
    readonly attempt?: number;
    readonly ip?: string;
    readonly network?: string;
  }[];
  readonly podIPs?: readonly string[];
  readonly startErrors?: readonly { readonly container: string; readonly reason: string; readonly message?: string }[];
  readonly startupResults?: Readonly<Record<string, string>>;
  readonly readinessResults?: Readonly<Record<string, string>>;
  readonly podIsTerminal?: boolean;
  readonly now?: string;
  readonly nodeAddresses?: readonly string[];
  readonly resizePending?: ResizeCondition;
  readonly resizeInProgress?: ResizeCondition;
  readonly podCgroup?: PodCgroup;
}

const msOf = (time: string | undefined): number | undefined => (time === undefined ? undefined : Date.parse(time));

function stateOf({ state, startedAt, finishedAt, exitCode = 0, reason = '', message = '' }: GivenContainer): ContainerState {
  if (state === 'running') return { phase: state, startedAtMs: msOf(startedAt) ?? 0 };
  if (state !== 'exited') return { phase: state };
  return { phase: state, startedAtMs: msOf(startedAt), finishedAtMs: msOf(finishedAt) ?? 0, exitCode, reason, message };
}

const condition = (type: string, given: ResizeCondition | undefined): readonly PodCondition[] =>
  given === undefined
    ? []
    : [
        {
          type,
          status: 'True',
          ...(given.reason && { reason: given.reason }),
          ...(given.message && { message: given.message }),
          ...(given.generation && { observedGeneration: given.generation }),
        },
      ];

/** Go writes what JSON may leave out. */
const whole = (statuses: readonly ContainerStatus[] | undefined): readonly ContainerStatus[] | undefined =>
  statuses?.map((status) => ({
    ...status,
    imageID: status.imageID ?? '',
    lastState: status.lastState ?? {},
    ready: status.ready ?? false,
    restartCount: status.restartCount ?? 0,
  }));

export function run(input: In): unknown {
  const status = input.pod.status && {
    ...input.pod.status,
    containerStatuses: whole(input.pod.status.containerStatuses),
    initContainerStatuses: whole(input.pod.status.initContainerStatuses),
    ephemeralContainerStatuses: whole(input.pod.status.ephemeralContainerStatuses),
  };
  const pod = { ...input.pod, status } as Pod;
  const { containers = [], sandboxes = [], podIPs = [], nodeAddresses = ['10.1.2.3'] } = input;
  const quantity = (text: string | undefined): Quantity | undefined => (text === undefined ? undefined : Quantity.parse(text));
  const observed = {
    uid: 'u' as PodUid,
    name: pod.metadata.name,
    namespace: pod.metadata.namespace,
    sandboxes: sandboxes.map(({ id, state, attempt = 0, ip, network }) => ({
      id: id as SandboxId,
      attempt,
      createdAtMs: 0,
      ready: state === 'READY',
      network: network === 'NODE' ? ('node' as const) : ('pod' as const),
      ips: ip ? [ip] : [],
    })),
    containers: containers.map((given): ObservedContainer => {
      const { id, name, image = '', imageRef = '', restartCount = 0, createdAt, resources, user, oldSandbox } = given;
      return {
        id: id as ContainerId,
        name,
        image,
        imageId: imageRef,
        specHash: '',
        attempt: restartCount,
        sandboxId: (oldSandbox ? 'older' : (sandboxes[0]?.id ?? '')) as SandboxId,
        createdAtMs: msOf(createdAt) ?? 0,
        state: stateOf(given),
        ...(resources && {
          resources: {
            cpuRequest: quantity(resources.cpuRequest),
            cpuLimit: quantity(resources.cpuLimit),
            memoryRequest: quantity(resources.memoryRequest),
            memoryLimit: quantity(resources.memoryLimit),
          },
        }),
        ...(user && { user }),
      };
    }),
  };
  const result =
    (results: Readonly<Record<string, string>> = {}) =>
    (id: ContainerId) =>
      results[id]?.toLowerCase() as ProbeResult | undefined;
  const startTime = msOf(pod.status?.startTime);
  const first = nodeAddresses[0];
  const second = nodeAddresses.find((ip) => first !== undefined && isIP(ip) !== isIP(first));
  const { observedGeneration: _manager, ...generated } = generatePodStatus(pod, observed, {
    previous: pod.status,
    startErrors: new Map((input.startErrors ?? []).map(({ container, reason, message = '' }) => [container, { reason, message }])),
    startup: result(input.startupResults),
    readiness: result(input.readinessResults),
    hostIPs: [first, second].filter((ip) => ip !== undefined),
    runtimeName: 'docker',
    ending: input.podIsTerminal ?? false,
    readyToStart: sandboxChanged(pod, observed).because === undefined,
    resizeConditions: [...condition('PodResizePending', input.resizePending), ...condition('PodResizeInProgress', input.resizeInProgress)],
    podIPs,
    resources: { podCgroup: input.podCgroup },
    probesSinceMs: Date.UTC(2026, 0),
    ageMs: input.now === undefined || startTime === undefined ? undefined : Date.parse(input.now) - startTime,
  });
  return generated;
}
