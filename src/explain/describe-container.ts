import { isTerminalPhase } from '../model/pod-predicates.ts';
import type { ExplainedContainer, ExplainedProbe, ExplainedPull } from '../model/explanation.ts';
import type { Pod } from '../model/pod.ts';
import { type ContainerView, dateMs } from './container-view.ts';
import { isStopping, type PodFacts, type SeenPull } from './pod-facts.ts';

/** What of a probe's answer is shown. */
const MOST_CHARACTERS = 200;

/** A container as it is declared, against what it is. */
export function describeContainer(facts: PodFacts, view: ContainerView): ExplainedContainer {
  const { pod, seen } = facts;
  const { name, kind, spec, status, pull, probes, lastLines } = view;
  const isOver = isTerminalPhase(seen.status?.phase) || seen.goneAtMs !== undefined;
  const desired = isOver || isStopping(facts) ? 'has stopped' : desiredOf(pod, view);
  const { observed, sinceMs } = observedOf(view);
  const image = spec?.image ?? status?.image;
  const shownProbes = (['startup', 'readiness', 'liveness'] as const).flatMap((each) => probeOf(each, probes[each] ?? []));
  return {
    name,
    kind,
    ...(image === undefined ? {} : { image }),
    desired,
    observed,
    ...(sinceMs === undefined ? {} : { sinceMs }),
    restarts: status?.restartCount ?? 0,
    isWell: isWell(desired, view),
    ...(pull && pull.pull.stage !== 'pulled' ? { pull: pullOf(pull) } : {}),
    probes: shownProbes,
    ...(lastLines.length > 0 ? { lastLines } : {}),
  };
}

function desiredOf(pod: Pod | undefined, { kind, spec }: ContainerView): string {
  if (kind === 'init') return 'has ended with 0';
  const policy = spec?.restartPolicy ?? pod?.spec.restartPolicy ?? 'Always';
  if (kind === 'app' && policy !== 'Always') return 'runs, or has ended with 0';
  return kind === 'ephemeral' ? 'runs' : 'runs and is ready';
}

function isWell(desired: string, { status }: ContainerView): boolean {
  const { running, terminated } = status?.state ?? {};
  switch (desired) {
    case 'has stopped':
      return running === undefined;
    case 'has ended with 0':
      return terminated?.exitCode === 0;
    case 'runs and is ready':
      return running !== undefined && status?.ready === true;
    default:
      return running !== undefined || terminated?.exitCode === 0;
  }
}

function observedOf({ status, kind }: ContainerView): { readonly observed: string; readonly sinceMs?: number | undefined } {
  const { running, terminated, waiting } = status?.state ?? {};
  if (running) {
    const ready = kind === 'init' || kind === 'ephemeral' ? '' : status?.ready ? ', ready' : ', not ready';
    return { observed: `running${ready}`, sinceMs: dateMs(running.startedAt) };
  }
  if (terminated)
    return { observed: `ended with ${terminated.exitCode}${inBrackets(terminated.reason)}`, sinceMs: dateMs(terminated.finishedAt) };
  if (waiting) {
    const last = status?.lastState?.terminated;
    const before = last ? `, after it ended with ${last.exitCode}${inBrackets(last.reason)}` : '';
    return { observed: `waiting${inBrackets(waiting.reason)}${before}`, sinceMs: dateMs(last?.finishedAt) };
  }
  return { observed: 'not there' };
}

const inBrackets = (reason: string | undefined): string => (reason === undefined || reason === '' ? '' : ` (${reason})`);

function pullOf({ pull, sinceMs }: SeenPull): ExplainedPull {
  const { stage } = pull;
  if (stage === 'failed' || stage === 'backing off')
    return { stage, sinceMs, attempt: pull.attempt, retryAtMs: pull.retryAtMs, error: pull.error };
  if (stage !== 'under way') return { stage, sinceMs };
  const { bytes, bytesDone, msLeft } = pull;
  return {
    stage,
    sinceMs,
    bytes,
    bytesDone,
    ...(bytes > 0 ? { percent: Math.floor((100 * bytesDone) / bytes) } : {}),
    ...(msLeft === undefined ? {} : { msLeft }),
  };
}

function probeOf(
  kind: ExplainedProbe['kind'],
  tries: NonNullable<ContainerView['probes'][ExplainedProbe['kind']]>,
): readonly ExplainedProbe[] {
  if (tries.length === 0) return [];
  return [
    {
      kind,
      tries: tries.map(({ atMs, tookMs, outcome, message }) => ({
        atMs,
        tookMs: Math.round(tookMs),
        outcome,
        message: message.slice(0, MOST_CHARACTERS),
      })),
    },
  ];
}
