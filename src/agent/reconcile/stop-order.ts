import { sidecarsOf } from '../../model/pod-predicates.ts';
import type { Pod } from '../../model/pod.ts';
import type { ObservedContainer, ObservedPod } from '../../ports/container-runtime.ts';
import type { PlanFacts, PodAction } from '../../ports/pod-plan.ts';
import { isRunning, mayRun } from './instances.ts';
import { gracePeriodsOf, killGracePeriodSeconds, minimumGracePeriodSeconds } from './kill-grace-period.ts';

/** Who knows how long a pod's containers may take to end. */
export type GraceFacts = Pick<PlanFacts, 'nowMs' | 'terminatingSinceMs' | 'end'>;

export interface StopStep {
  /** To be carried out together. */
  readonly stops: readonly PodAction[];
  /** Says what still runs and must wait for these to end; undefined: nothing does. */
  readonly waiting: string | undefined;
}

/**
 * The next containers to stop when a pod ends: everything but the sidecars, then the sidecars one by one in reverse order. Once the grace
 * period is over there is no more waiting. `pod` is undefined when it is forgotten: then all stop at once.
 */
export function nextToStop(pod: Pod | undefined, { containers }: ObservedPod, facts: GraceFacts): StopStep {
  const order = new Map(sidecarsOf(pod?.spec).map(({ name }, index) => [name, index]));
  const live = containers.filter(mayRun);
  const stop = (some: readonly ObservedContainer[]): readonly PodAction[] =>
    some.map((container) => stopContainer(container, pod, facts, `Stopping container ${container.name}`));
  const others = live.filter(({ name }) => !order.has(name));
  const sidecars = live.filter(({ name }) => order.has(name));
  const running = sidecars.filter(isRunning);
  if (others.some(isRunning) && running.length > 0) {
    return { stops: stop(others), waiting: 'sidecars end after the other containers' };
  }
  const inTurn = Math.max(...running.map(({ name }) => order.get(name) ?? 0));
  const now = sidecars.filter((container) => !isRunning(container) || order.get(container.name) === inTurn);
  if (now.length < sidecars.length && !running.every((container) => graceIsOver(container, pod, facts))) {
    return { stops: stop([...others, ...now]), waiting: 'sidecars end one by one, the last first' };
  }
  return { stops: stop(live), waiting: undefined };
}

/** What is left of the grace period counts, in whole seconds. `probeSeconds` is what a failed probe has instead of the pod's. */
export function stopContainer(
  container: ObservedContainer,
  pod: Pod | undefined,
  facts: GraceFacts,
  why: string,
  probeSeconds?: number,
): PodAction {
  const seconds = graceSeconds(container, pod, facts, probeSeconds);
  const least = Math.min(seconds, minimumGracePeriodSeconds);
  const graceMs = Math.max(seconds - passedSeconds(facts), least) * 1000;
  return { do: 'stopContainer', id: container.id, name: container.name, graceMs, why };
}

function graceIsOver(container: ObservedContainer, pod: Pod | undefined, facts: GraceFacts): boolean {
  return facts.terminatingSinceMs !== undefined && passedSeconds(facts) >= graceSeconds(container, pod, facts);
}

function graceSeconds(container: ObservedContainer, pod: Pod | undefined, { end }: GraceFacts, probeSeconds?: number): number {
  const periods = pod ? gracePeriodsOf(pod) : container;
  const ofProbe = probeSeconds === undefined ? {} : { terminationGracePeriodSeconds: probeSeconds };
  // A grace period only becomes shorter (calculateEffectiveGracePeriod in pkg/kubelet/pod_workers.go).
  const least =
    end?.graceSeconds === undefined ? undefined : Math.min(end.graceSeconds, periods.deletionGracePeriodSeconds ?? end.graceSeconds);
  return killGracePeriodSeconds({ ...periods, ...ofProbe }, least);
}

function passedSeconds({ nowMs, terminatingSinceMs = nowMs }: GraceFacts): number {
  return Math.max(0, Math.floor((nowMs - terminatingSinceMs) / 1000));
}
