import type { PodUid } from '../../src/model/pod.ts';
import type { ProbeResult } from '../../src/model/probe-result.ts';
import type {
  ContainerId,
  ContainerState,
  ObservedContainer,
  ObservedPod,
  ObservedSandbox,
  SandboxId,
} from '../../src/ports/container-runtime.ts';

/** A sandbox as a case writes it. */
export interface GivenSandbox {
  readonly id: string;
  readonly state: string;
  readonly attempt?: number;
  readonly ip?: string;
  /** Where there are several. */
  readonly ips?: readonly string[];
  readonly network?: string;
}

/** A container as a case writes it; a suite adds what it knows besides. */
export interface GivenContainer {
  readonly id: string;
  readonly name: string;
  readonly state: ContainerState['phase'];
  readonly createdAt?: string;
  readonly startedAt?: string;
  readonly finishedAt?: string;
  readonly exitCode?: number;
  readonly restartCount?: number;
  readonly image?: string;
  readonly reason?: string;
  readonly message?: string;
}

export interface GivenStartError {
  readonly container: string;
  readonly reason: string;
  readonly message?: string;
}

const msOf = (time: string | undefined): number | undefined => (time === undefined ? undefined : Date.parse(time));

const sandboxOf = ({ id, state, attempt = 0, ip, ips = ip ? [ip] : [], network }: GivenSandbox): ObservedSandbox => ({
  id: id as SandboxId,
  attempt,
  createdAtMs: 0,
  ready: state === 'READY',
  network: network === 'NODE' ? 'node' : 'pod',
  ips,
});

function stateOf({ state: phase, startedAt, finishedAt, exitCode = 0, reason = '', message = '' }: GivenContainer): ContainerState {
  if (phase === 'running') return { phase, startedAtMs: msOf(startedAt) ?? 0 };
  if (phase !== 'exited') return { phase };
  return { phase, startedAtMs: msOf(startedAt), finishedAtMs: msOf(finishedAt) ?? 0, exitCode, reason, message };
}

/** The pod `u` as the engine has it in a case; `more` is what a suite knows of a container besides. */
export function observedPod<T extends GivenContainer>(
  { name, namespace }: { readonly name: string; readonly namespace: string },
  sandboxes: readonly GivenSandbox[],
  containers: readonly T[],
  more: (given: T) => Partial<ObservedContainer>,
): ObservedPod {
  return {
    uid: 'u' as PodUid,
    name,
    namespace,
    sandboxes: sandboxes.map(sandboxOf),
    containers: containers.map((given) => ({
      id: given.id as ContainerId,
      name: given.name,
      image: given.image ?? '',
      imageId: '',
      specHash: '',
      attempt: given.restartCount ?? 0,
      createdAtMs: msOf(given.createdAt) ?? 0,
      state: stateOf(given),
      ...more(given),
    })),
  };
}

/** What the probes of a container said last, from a case's results by container id. */
export const probeResults =
  (results: Readonly<Record<string, string | undefined>> = {}) =>
  (id: ContainerId): ProbeResult | undefined =>
    results[id]?.toLowerCase() as ProbeResult | undefined;

export const startErrorsOf = (given: readonly GivenStartError[] = []): ReadonlyMap<string, { reason: string; message: string }> =>
  new Map(given.map(({ container, reason, message = '' }) => [container, { reason, message }]));
