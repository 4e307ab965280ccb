import type { Cause } from '../../model/explanation.ts';
import type { Pod } from '../../model/pod.ts';
import { type ContainerView, dateMs, title } from '../container-view.ts';
import type { PodFacts } from '../pod-facts.ts';
import { crashCause, oneLine } from './crash-cause.ts';
import { imageCause } from './image-cause.ts';
import { probeCauses } from './probe-causes.ts';
import { startFault } from './start-cause.ts';

/** Reasons of waiting that say no more than that it waits. */
const plainWaits: ReadonlySet<string> = new Set(['', 'ContainerCreating', 'PodInitializing']);
const FAILED_HOOK = 'PostStartHookError';

/** What is the matter with the containers, in the order in which they start. */
export function containerCauses(facts: PodFacts, views: readonly ContainerView[]): readonly Cause[] {
  const causes = views.flatMap((view) => ofContainer(facts, view));
  const initializing = views.find(isInitializing);
  return initializing ? [...causes, ...stillInitializing(initializing)] : causes;
}

function ofContainer(facts: PodFacts, view: ContainerView): readonly Cause[] {
  const { reason = '', message = '' } = view.status?.state?.waiting ?? {};
  const image = imageCause(view);
  if (image) return [withMissingLogin(facts, image)];
  if (reason === FAILED_HOOK || hookFailed(view)) return [hookCause(view, message)];
  const crash = crashCause(view, mayEnd(facts.pod, view));
  if (crash && !isWellAgain(facts.nowMs, view)) return [crash, ...probeCauses(facts, view)];
  if (!plainWaits.has(reason)) return [startCause(facts, view, reason, message)];
  return probeCauses(facts, view);
}

/** A registry that refuses who has no login says nothing of the login that was meant for it. */
function withMissingLogin({ seen }: PodFacts, cause: Cause): Cause {
  const event = seen.events.findLast(({ reason }) => reason === 'FailedToRetrieveImagePullSecret');
  const names = /\(([^)]*)\)/.exec(event?.message ?? '')?.[1];
  if (cause.code !== 'image-pull-unauthorized' || names === undefined) return cause;
  return {
    ...cause,
    text: cause.text.replace('the registry refuses it', `Secret ${names} (imagePullSecrets) is missing, and the registry refuses it`),
    advice: `create Secret ${names} with a login for this registry, or correct imagePullSecrets`,
  };
}

/** How long a container has to run until how it ended before is history (the kubelet's back-off forgets after as long). */
const HISTORY_MS = 600_000;

function isWellAgain(nowMs: number, { status }: ContainerView): boolean {
  const startedMs = dateMs(status?.state?.running?.startedAt);
  return startedMs !== undefined && nowMs - startedMs > HISTORY_MS;
}

function mayEnd(pod: Pod | undefined, { kind, spec }: ContainerView): boolean {
  if (kind === 'init' || kind === 'ephemeral') return true;
  const policy = spec?.restartPolicy ?? pod?.spec.restartPolicy ?? 'Always';
  return kind === 'app' && policy !== 'Always';
}

function startCause({ seen }: PodFacts, view: ContainerView, reason: string, message: string): Cause {
  // With its causes, which its status does not show.
  const told = seen.last?.record.outcomes.findLast(
    ({ action, error }) => action.do === 'startContainer' && action.name === view.name && error !== undefined,
  )?.error;
  const fault = startFault(told ?? message) ?? startFault(message);
  return {
    code: fault?.code ?? 'not-started',
    kind: 'fault',
    container: view.name,
    text: `${title(view)} cannot be started: ${fault?.what ?? oneLine(message)}`,
    detail: `${reason}: ${told ?? message}`,
    ...(fault?.advice === undefined ? {} : { advice: fault.advice }),
  };
}

const hookFailed = ({ events, status }: ContainerView): boolean =>
  status?.state?.running === undefined && events.at(-1)?.reason === 'Killing' && events.at(-1)?.message === 'FailedPostStartHook';

function hookCause(view: ContainerView, message: string): Cause {
  const said = message.replace(/^.*?PostStartHook(?:Error)?:? ?/, '');
  return {
    code: 'post-start-hook-failed',
    kind: 'fault',
    container: view.name,
    text: `the postStart hook of ${title(view)} fails, and it is stopped for that${said === '' ? '' : `: ${oneLine(said)}`}`,
    ...(message === '' ? {} : { detail: message }),
    advice: "correct the hook's command or request",
  };
}

function isInitializing({ kind, status }: ContainerView): boolean {
  return kind === 'init' && status?.state?.running !== undefined;
}

function stillInitializing(view: ContainerView): readonly Cause[] {
  const sinceMs = dateMs(view.status?.state?.running?.startedAt);
  return [
    {
      code: 'initializing',
      kind: 'wait',
      container: view.name,
      text: `init container ${view.name} still runs: the other containers wait until it has ended`,
      ...(sinceMs === undefined ? {} : { sinceMs }),
      advice: 'look at what it waits for (rxlet logs); an init container has to end with 0',
    },
  ];
}
