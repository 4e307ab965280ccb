import type { Cause } from '../../model/explanation.ts';
import type { Pod } from '../../model/pod.ts';
import type { ActionOutcome } from '../../ports/pod-plan.ts';
import type { PodFacts } from '../pod-facts.ts';
import { describeStep } from '../describe-decision.ts';
import { oneLine } from './crash-cause.ts';
import { imageCause } from './image-cause.ts';
import { startFault } from './start-cause.ts';

/** A step that takes longer is reported. */
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
  const slow = step.action.do === 'startContainer' ? slowStart(facts, step.action.name) : slowStep(step.action.do);
  if (slow && causes.length === 0) causes.push({ code: 'step-under-way', kind: 'wait', text: slow, sinceMs: step.sinceMs });
  return causes;
}

function failedStep({ seen, pod }: PodFacts, { action }: ActionOutcome, error: string): Cause | undefined {
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
    ...(seen.failsSinceMs === undefined ? {} : { sinceMs: seen.failsSinceMs }),
    ...(seen.retryAtMs === undefined ? {} : { untilMs: seen.retryAtMs }),
    ...(fault?.advice === undefined ? {} : { advice: fault.advice }),
  };
  // Its status says more of a container that does not start.
  if (action.do === 'startContainer') return undefined;
  if (action.do === 'prepare') return { ...about, ...unprepared(error, pod) };
  const subject = {
    runSandbox: 'its sandbox cannot be started',
    admit: 'whether it may run here cannot be decided',
    resize: 'it cannot be given the resources that it asks for',
    updateContainer: 'it cannot be given the resources that it asks for',
  }[action.do as string];
  const own = error
    .replace(/^run the sandbox of \S+: /, '')
    .replace(/^failed to \w+ sandbox container for pod "[^"]*": (?:Error response from daemon: )?/, '')
    .replace(/^failed to create (?:shim )?task(?: for container)?: (?:OCI runtime create failed: )?(?:runc create failed: )?/, '');
  return {
    ...about,
    code: fault?.code ?? `${action.do}-failed`,
    text: `${subject ?? `${describeStep(action)} fails`}: ${fault?.what ?? oneLine(own)}`,
  };
}

function unprepared(error: string, pod: Pod | undefined): Pick<Cause, 'code' | 'text' | 'advice'> {
  const network = /network is not ready: (.*)/.exec(error)?.[1];
  if (network !== undefined)
    return {
      code: 'network',
      text: `the pods' network is not ready (CNI): ${oneLine(network.replace(/^.*message:(?:docker: )?/, ''))}`,
      advice: "look at the CNI configuration and plugins of this node, and at the network provider's own pods",
    };
  const fault = startFault(error);
  const volume = /volume "([^"]*)"/.exec(error)?.[1];
  return volume === undefined
    ? { code: fault?.code ?? 'prepare-failed', text: `what it needs cannot be prepared: ${fault?.what ?? oneLine(error)}` }
    : {
        code: `volume-${fault?.code ?? 'failed'}`,
        text: `volume ${volume} cannot be mounted: ${fault?.what ?? oneLine(withoutPrefix(error))}${fault?.code === 'key-missing' ? ofWhat(pod, volume) : ''}`,
      };
}

/** " in ConfigMap settings", where the volume shows one. */
function ofWhat(pod: Pod | undefined, name: string): string {
  const { configMap, secret } = pod?.spec.volumes?.find((each) => each.name === name) ?? {};
  if (configMap) return ` in ConfigMap ${configMap.name ?? ''}`;
  return secret ? ` in Secret ${secret.secretName ?? ''}` : '';
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

function slowStart({ seen, pod }: PodFacts, name: string): string | undefined {
  if ([...seen.pulls.values()].some(({ pull }) => pull.container === name && pull.stage !== 'pulled')) return undefined;
  const hasStarted = seen.events.some(
    ({ reason, container, atMs }) => reason === 'Started' && container === name && atMs >= (seen.step?.sinceMs ?? 0),
  );
  const hook = [...(pod?.spec.containers ?? []), ...(pod?.spec.initContainers ?? [])].find((each) => each.name === name)?.lifecycle
    ?.postStart;
  if (hasStarted && hook) return `the postStart hook of container ${name} still runs: it is not ready before that has ended`;
  return `container ${name} is being started, which takes long: the engine is slow, or its image or volumes are`;
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
