import { isIP } from 'node:net';
import { sandboxChanged } from '../../../src/agent/reconcile/sandbox-changed.ts';
import type { PodCgroup } from '../../../src/ports/pod-participant.ts';
import { generatePodStatus } from '../../../src/agent/status/generate-pod-status.ts';
import type { Pod, PodCondition, ContainerStatus } from '../../../src/model/pod.ts';
import { Quantity } from '../../../src/model/quantity.ts';
import { parseTime } from '../../../src/model/time.ts';
import type { SandboxId } from '../../../src/ports/container-runtime.ts';
import { type GivenContainer, type GivenSandbox, type GivenStartError, observedPod, probeResults, startErrorsOf } from '../observed-pod.ts';

interface Container extends GivenContainer {
  readonly imageRef?: string;
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
  readonly containers?: readonly Container[];
  readonly sandboxes?: readonly GivenSandbox[];
  readonly podIPs?: readonly string[];
  readonly startErrors?: readonly GivenStartError[];
  readonly startupResults?: Readonly<Record<string, string>>;
  readonly readinessResults?: Readonly<Record<string, string>>;
  readonly podIsTerminal?: boolean;
  readonly now?: string;
  readonly nodeAddresses?: readonly string[];
  readonly resizePending?: ResizeCondition;
  readonly resizeInProgress?: ResizeCondition;
  readonly podCgroup?: PodCgroup;
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
  const observed = observedPod(pod.metadata, sandboxes, containers, ({ imageRef = '', resources, user, oldSandbox }) => ({
    imageId: imageRef,
    sandboxId: (oldSandbox ? 'older' : (sandboxes[0]?.id ?? '')) as SandboxId,
    ...(resources && {
      resources: {
        cpuRequest: quantity(resources.cpuRequest),
        cpuLimit: quantity(resources.cpuLimit),
        memoryRequest: quantity(resources.memoryRequest),
        memoryLimit: quantity(resources.memoryLimit),
      },
    }),
    ...(user && { user }),
  }));
  const startTime = parseTime(pod.status?.startTime);
  const first = nodeAddresses[0];
  const second = nodeAddresses.find((ip) => first !== undefined && isIP(ip) !== isIP(first));
  const { observedGeneration: _manager, ...generated } = generatePodStatus(pod, observed, {
    previous: pod.status,
    startErrors: startErrorsOf(input.startErrors),
    startup: probeResults(input.startupResults),
    readiness: probeResults(input.readinessResults),
    hostIPs: [first, second].filter((ip) => ip !== undefined),
    runtimeName: 'docker',
    ending: input.podIsTerminal ?? false,
    readyToStart: sandboxChanged(pod, observed).because === undefined,
    resizeConditions: [...condition('PodResizePending', input.resizePending), ...condition('PodResizeInProgress', input.resizeInProgress)],
    podIPs,
    resources: { podCgroup: input.podCgroup },
    ranBefore: () => true,
    ageMs: input.now === undefined || startTime === undefined ? undefined : Date.parse(input.now) - startTime,
  });
  return generated;
}
