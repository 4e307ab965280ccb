import type { Cause } from '../../model/explanation.ts';
import type { ActionOutcome } from '../../ports/pod-plan.ts';
import type { PodFacts } from '../pod-facts.ts';
import { describeStep } from '../describe-decision.ts';
import { oneLine } from './crash-cause.ts';
import { imageCause } from './image-cause.ts';
import { startFault } from './start-cause.ts';

/** A step that takes longer is told of. */
const LONG_MS = 2_000;

/** What of the last look did not work, apart from containers' starts, and what takes long now. */
export function stepCauses(facts: PodFacts): readonly Cause[] {
  const { seen, nowMs, declared } = facts;
  const causes: Cause[] = [];
  const last = seen.last;
  if (last?.record.life === 'syncing') {
    for (const outcome of last.record.outcomes) {
      const cause = outcome.error === undefined ? outOfDate(outcome) : failedStep(facts, outcome, outcome.error);
      if (cause) causes.push(cause);
    }
  }
  const { step } = seen;
  if (!step || nowMs - step.sinceMs < LONG_MS || declared?.metadata.deletionTimestamp !== undefined) return causes;
  const slow = slowStep(step.action.do);
  if (slow) causes.push({ code: 'step-under-way', kind: 'wait', text: slow, sinceMs: step.sinceMs });
  return causes;
}

function failedStep({ seen, dateOffsetMs }: PodFacts, { action }: ActionOutcome, error: string): Cause | undefined {
  const last = seen.last;
  const sandboxPull = action.do === 'runSandbox' ? [...seen.pulls.values()].find(({ pull }) => pull.container === 'POD') : undefined;
  const image =
    sandboxPull &&
    imageCause({
      name: 'POD',
      kind: 'app',
      spec: undefined,
      status: {
        name: 'POD',
        image: sandboxPull.pull.image,
        imageID: '',
        ready: false,
        restartCount: 0,
        state: { waiting: { reason: 'ErrImagePull' } },
      },
      pull: sandboxPull,
      probes: {},
      events: [],
      lastLines: [],
    });
  if (image && sandboxPull.pull.stage !== 'pulled') return { ...image, text: image.text.replace('container POD', "the pod's sandbox") };
  const fault = startFault(error);
  const about = {
    kind: 'fault' as const,
    detail: error,
    sinceMs: (last?.record.atMs ?? 0) + dateOffsetMs,
    ...(fault?.advice === undefined ? {} : { advice: fault.advice }),
  };
  // Its status says more of a container that does not start.
  if (action.do === 'startContainer') return undefined;
  if (action.do === 'prepare') return { ...about, ...unprepared(error) };
  const subject = {
    runSandbox: 'its sandbox cannot be started',
    admit: 'whether it may run here cannot be decided',
    resize: 'it cannot be given the resources that it asks for',
    updateContainer: 'it cannot be given the resources that it asks for',
  }[action.do as string];
  const own = error.replace(/^run the sandbox of \S+: /, '');
  return {
    ...about,
    code: fault?.code ?? `${action.do}-failed`,
    text: `${subject ?? `${describeStep(action)} fails`}: ${fault?.what ?? oneLine(own)}`,
  };
}

function unprepared(error: string): Pick<Cause, 'code' | 'text' | 'advice'> {
  const network = /network is not ready: (.*)/.exec(error)?.[1];
  if (network !== undefined)
    return {
      code: 'network',
      text: `the pods' network is not ready (CNI): ${oneLine(network)}`,
      advice: "look at the CNI configuration and plugins of this node, and at the network provider's own pods",
    };
  const fault = startFault(error);
  const volume = /volume "([^"]*)"/.exec(error)?.[1];
  return volume === undefined
    ? { code: fault?.code ?? 'prepare-failed', text: `what it needs cannot be prepared: ${fault?.what ?? oneLine(error)}` }
    : {
        code: `volume-${fault?.code ?? 'failed'}`,
        text: `volume ${volume} cannot be mounted: ${fault?.what ?? oneLine(withoutPrefix(error))}`,
      };
}

const withoutPrefix = (error: string): string => error.replace(/^.*?volume "[^"]*" ?:? ?/, '');

function outOfDate({ action, note }: ActionOutcome): Cause | undefined {
  if (action.do !== 'prepare' || note === undefined) return undefined;
  const volume = /volume "([^"]*)"/.exec(note)?.[1];
  const fault = startFault(note);
  return {
    code: 'out-of-date',
    kind: 'note',
    text: `it goes on with what it had: ${volume === undefined ? '' : `volume ${volume} is not up to date: `}${fault?.what ?? oneLine(note)}`,
    detail: note,
  };
}

function slowStep(kind: string): string | undefined {
  return {
    admit: 'whether it may run here is being decided',
    prepare: 'its volumes and what else it needs are being prepared, which takes long',
    runSandbox: 'its sandbox is being started, which takes long',
    stopSandbox: 'its old sandbox is being stopped, which takes long',
    removeContainer: 'an old container is being removed, which takes long',
    stopContainer: 'a container is being stopped',
  }[kind];
}
