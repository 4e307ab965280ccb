import type { Cause } from '../../model/explanation.ts';
import type { ProbeTried } from '../../ports/happenings.ts';
import { type ContainerView, dateMs, title } from '../container-view.ts';
import type { PodFacts } from '../pod-facts.ts';
import { oneLine } from './crash-cause.ts';

const passed = ({ outcome }: ProbeTried): boolean => outcome === 'success' || outcome === 'warning';

/** What the probes of a container that runs find wrong, or have not found yet. */
export function probeCauses(facts: PodFacts, view: ContainerView): readonly Cause[] {
  const { status, spec, probes } = view;
  const { running } = status?.state ?? {};
  if (!running) return [];
  const begunMs = dateMs(running.startedAt);
  const about = { container: view.name, ...(begunMs === undefined ? {} : { sinceMs: begunMs }) };
  const causes: Cause[] = [];
  const { startup = [], liveness = [], readiness = [] } = probes;
  if (spec?.startupProbe && status?.started !== true) {
    causes.push({
      ...about,
      code: 'startup-probe',
      kind: isFailing(startup) ? 'fault' : 'wait',
      text: `${title(view)} runs and has not started up yet: its startup probe ${found(startup, spec.startupProbe.initialDelaySeconds)}`,
      advice: 'raise failureThreshold or periodSeconds of the startup probe if it is only slow',
    });
    return causes;
  }
  const lastLive = liveness.at(-1);
  if (lastLive && !passed(lastLive))
    causes.push({
      ...about,
      code: 'liveness-failed',
      kind: 'fault',
      text: `the liveness probe of ${title(view)} ${found(liveness, 0)}: it is restarted when that goes on`,
      advice: 'look at what the liveness probe asks for; raise its timeoutSeconds or failureThreshold if it is only slow',
    });
  if (status?.ready !== true && spec?.readinessProbe)
    causes.push({
      ...about,
      code: 'not-ready',
      kind: isFailing(readiness) ? 'fault' : 'wait',
      text: `${title(view)} runs and is not ready: its readiness probe ${found(readiness, spec.readinessProbe.initialDelaySeconds)}`,
      advice: 'look at what the readiness probe asks for, and at what the container wrote (rxlet logs)',
    });
  if (
    causes.length === 0 &&
    status?.ready !== true &&
    view.kind !== 'init' &&
    facts.seen.step?.action.do === 'startContainer' &&
    spec?.lifecycle?.postStart
  )
    causes.push({
      ...about,
      code: 'post-start-hook',
      kind: 'wait',
      text: `the postStart hook of ${title(view)} still runs`,
      advice: 'look at what the hook waits for',
    });
  return causes;
}

const isFailing = (tries: readonly ProbeTried[]): boolean => tries.length > 0 && !tries.some(passed);

function found(tries: readonly ProbeTried[], initialDelaySeconds = 0): string {
  const last = tries.at(-1);
  if (!last)
    return initialDelaySeconds > 0 ? `has not been tried yet (initialDelaySeconds ${initialDelaySeconds})` : 'has not been tried yet';
  const words = last.message === '' ? '' : `: ${oneLine(last.message)}`;
  if (passed(last)) return 'passed the last time, and not often enough yet';
  return last.outcome === 'error' ? `cannot be executed${words}` : `fails${words}`;
}
