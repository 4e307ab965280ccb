import type { Cause } from '../../model/explanation.ts';
import { containersAreTerminal } from '../../model/pod-termination.ts';
import { isStopping, lifeOf, type PodFacts } from '../pod-facts.ts';
import { oneLine } from './crash-cause.ts';
import { evictedCause } from './evicted-cause.ts';
import { startFault } from './start-cause.ts';

/** What is the matter with a pod as a whole: that it waits for its turn, may not run here, has ended, or is on its way out. */
export function lifeCauses(facts: PodFacts): readonly Cause[] {
  const { seen, engineFault, synced } = facts;
  const record = seen.last?.record;
  if (seen.goneAtMs !== undefined) {
    const ended = endCause(facts);
    const gone: Cause = { code: 'gone', kind: 'note', text: 'nothing of it is left on this node', sinceMs: seen.goneAtMs };
    return ended ? [ended, gone] : [gone];
  }
  const causes: Cause[] = [];
  // A look that was interrupted while it waited for the engine's answer says nothing about the engine.
  const deadEngine = engineFault ?? (record?.unobserved && record.failed !== 'interrupted' ? record.failed : undefined);
  if (deadEngine !== undefined)
    causes.push({
      code: 'engine-down',
      kind: 'fault',
      text: `the container engine does not answer: ${oneLine(deadEngine)}`,
      detail: deadEngine,
      advice: 'look at the engine (systemctl status docker); running containers go on',
    });
  if (!synced && record === undefined)
    causes.push({
      code: 'sources-not-read',
      kind: 'wait',
      text: 'it is not looked at before every source of pods has spoken once',
      advice: 'see rxlet explain node for the source that has not',
    });
  if (lifeOf(facts) === 'waiting') causes.push(waitsForName(facts));
  const end = endCause(facts);
  if (end) causes.push(end);
  if (isStopping(facts)) causes.push(...stoppingCauses(facts));
  return causes;
}

function waitsForName({ seen, holder }: PodFacts): Cause {
  const [because = 'another pod holds its name'] = seen.last?.record.plan.because ?? [];
  return {
    code: 'name-held',
    kind: 'wait',
    text:
      holder === undefined ? because : `its name is held by a pod of the same name before it, and it waits for that one's end: ${holder}`,
    detail: because,
    advice: 'wait for the end of the other, or end it',
  };
}

interface Refusal {
  readonly is: RegExp;
  readonly what: string;
  readonly advice: string;
}

/** By status.reason. */
const refusals: readonly Refusal[] = [
  { is: /^OutOf/, what: 'there is not enough room on this node', advice: 'end other pods, or ask for less (resources.requests)' },
  {
    is: /^NodeAffinity$/,
    what: "its node selector or affinity does not match this node's labels",
    advice: 'correct nodeSelector or affinity, or label the node (--node-labels)',
  },
  {
    is: /^NodePorts$/,
    what: 'a host port that it asks for is taken by another pod',
    advice: 'choose another hostPort, or end the other pod',
  },
  { is: /^NodeName$/, what: 'it is meant for another node', advice: 'correct spec.nodeName' },
  { is: /^TaintToleration$/, what: 'it does not tolerate a taint of this node', advice: 'add a toleration, or remove the taint' },
  {
    is: /^SysctlForbidden$/,
    what: 'it asks for a sysctl that is forbidden here',
    advice: 'allow it with --allowed-unsafe-sysctls, or remove it from the pod',
  },
  { is: /^AppArmor$/, what: 'its AppArmor profile cannot be used', advice: 'load the profile on this machine' },
  { is: /^(?:PodOS|OS)/, what: 'it is for another operating system', advice: 'correct spec.os' },
  { is: /^NodeShutdown$/, what: 'the node is shutting down', advice: 'wait until the node is up again' },
  {
    is: /Topology|SMTAlignment|UnexpectedAdmission/,
    what: 'this machine cannot give it the CPUs or memory that it asks for together',
    advice: 'ask for other resources, or change the node’s topology policy',
  },
  {
    is: /^Forbidden$/,
    what: 'it asks for privileges that are forbidden here',
    advice: 'remove them from the pod, or allow them on this node',
  },
  { is: /SupplementalGroupsPolicy|UserNamespace/, what: 'the engine cannot do what it asks for', advice: 'remove it from the pod' },
];

/** How it ended, or why it may not run; undefined: neither. */
function endCause({ seen, declared }: PodFacts): Cause | undefined {
  const status = seen.status ?? declared?.status ?? {};
  const { phase, reason = '', message = '' } = status;
  const since = seen.phaseSinceMs === undefined ? {} : { sinceMs: seen.phaseSinceMs };
  const said = message.replace(/^Pod was rejected: /, '');
  if (phase === 'Succeeded')
    return { ...since, code: 'completed', kind: 'note', text: 'it has completed: all its containers ended with 0' };
  if (phase !== 'Failed') {
    // On its way to that end.
    return reason === ''
      ? undefined
      : { ...since, code: codeOf(reason), kind: 'fault', text: `${reason}: ${oneLine(said)}`, detail: message };
  }
  if (reason === 'Evicted') return { ...since, ...evictedCause(message) };
  if (reason === 'Preempting' || reason === 'Preempted')
    return {
      ...since,
      code: 'preempted',
      kind: 'fault',
      text: `it was preempted, ended to make room for a pod of higher priority: ${oneLine(said)}`,
      detail: message,
      advice: 'give it a higher priority, or the node more room',
    };
  if (reason === 'DeadlineExceeded')
    return {
      ...since,
      code: 'deadline',
      kind: 'fault',
      text: `it ran longer than activeDeadlineSeconds${declared?.spec.activeDeadlineSeconds === undefined ? '' : ` (${declared.spec.activeDeadlineSeconds} s)`} allows (deadline exceeded), and was ended`,
      detail: message,
      advice: 'raise activeDeadlineSeconds, or make it faster',
    };
  if (reason === 'Terminated' || reason === 'NodeShutdown')
    return {
      ...since,
      code: 'node-shutdown',
      kind: 'fault',
      text: `it was ended because the node shut down: ${oneLine(said)}`,
      detail: message,
    };
  const lacking = /no set of running pods found to reclaim resources: \[\(res: (\S+), q: (\d+)\)/.exec(said);
  if (lacking)
    return {
      ...since,
      code: `out-of-${lacking[1]}`,
      kind: 'fault',
      text: `it may not run here: there is not enough ${lacking[1]} on this node, and ending other pods would not make room (${amount(lacking[1] ?? '', Number(lacking[2]))} too little)`,
      detail: message,
      advice: 'ask for less (resources.requests), or use a larger node',
    };
  const refusal = refusals.find(({ is }) => is.test(reason));
  if (reason !== '')
    return {
      ...since,
      code: codeOf(reason),
      kind: 'fault',
      text: `it may not run here: ${refusal?.what ?? reason} (${reason}): ${oneLine(said)}`,
      detail: message,
      ...(refusal ? { advice: refusal.advice } : {}),
    };
  return undefined;
}

/** CPUs in thousandths, all else as it is counted. */
function amount(resource: string, quantity: number): string {
  if (resource === 'cpu') return `${quantity / 1000} CPUs`;
  return quantity >= 1024 ** 2 ? `${(quantity / 1024 ** 3).toFixed(1)} GiB` : String(quantity);
}

/** "OutOfcpu": "out-of-cpu" */
const codeOf = (reason: string): string =>
  reason
    .replace(/^OutOf/, 'out-of-')
    .replaceAll(/([a-z])([A-Z])/g, '$1-$2')
    .toLowerCase();

/** What keeps a pod that is on its way out. */
function stoppingCauses({ seen, declared, pod, nowMs }: PodFacts): readonly Cause[] {
  const { step, last, reclaim } = seen;
  const ending =
    declared === undefined
      ? 'it is no longer declared'
      : declared.metadata.deletionTimestamp === undefined
        ? 'it is ended'
        : 'it is being deleted';
  if (step?.action.do === 'stopContainer') {
    const { name, graceMs } = step.action;
    const untilMs = step.sinceMs + graceMs;
    const late = nowMs > untilMs + 5_000;
    const hook = pod && [...pod.spec.containers, ...(pod.spec.initContainers ?? [])].find((each) => each.name === name)?.lifecycle?.preStop;
    return [
      {
        code: late ? 'stop-late' : 'stopping',
        kind: late ? 'fault' : 'wait',
        container: name,
        sinceMs: step.sinceMs,
        untilMs,
        text: `${ending}: container ${name} ${hook ? 'runs its preStop hook, or ' : ''}has not ended on SIGTERM yet, and is killed at the end of its grace period of ${Math.round(graceMs / 1000)} s`,
        advice: late
          ? 'the engine does not bring it to its end: look at the engine, and at processes that cannot be killed (state D)'
          : 'make it end on SIGTERM, or lower terminationGracePeriodSeconds',
      },
    ];
  }
  const failed = step ? undefined : last?.record.failed;
  if (failed !== undefined && failed !== 'interrupted') {
    const fault = startFault(failed);
    const step = last?.record.outcomes.findLast(({ error }) => error !== undefined)?.action.do;
    const isRelease = step === 'release' || step === 'tearDown';
    const volume = /\/volumes\/[^/]+\/([^/,:\s]+)/.exec(failed)?.[1];
    const held = volume === undefined ? 'what it holds on this node (its volumes, directories or network)' : `its volume ${volume}`;
    const what = isRelease ? `${held} cannot be released` : `${step ?? 'its end'} fails`;
    return [
      {
        code: isRelease ? 'held' : 'stop-failed',
        kind: 'fault',
        text: `${ending}, and is stuck: ${what}: ${fault ? fault.what : oneLine(failed)}`,
        detail: failed,
        ...(seen.failsSinceMs === undefined ? {} : { sinceMs: seen.failsSinceMs }),
        ...(seen.retryAtMs === undefined ? {} : { untilMs: seen.retryAtMs }),
        ...(fault?.advice === undefined ? {} : { advice: fault.advice }),
      },
    ];
  }
  const finalizers = declared?.metadata.finalizers ?? [];
  const isOver = seen.status !== undefined && containersAreTerminal(seen.status);
  if (isOver && reclaim && nowMs - reclaim.atMs < 60_000)
    return [
      {
        code: 'held',
        kind: 'wait',
        text: `${ending}: it has stopped, and holds something still: ${oneLine(reclaim.why)}`,
        detail: reclaim.why,
        sinceMs: reclaim.atMs,
      },
    ];
  if (isOver && finalizers.length > 0)
    return [
      {
        code: 'finalizers',
        kind: 'fault',
        text: `${ending}: nothing of it runs, and the API keeps it for its finalizers: ${finalizers.join(', ')}`,
        advice: 'let the controllers that set them remove them',
      },
    ];
  return [{ code: 'stopping', kind: 'wait', text: ending, ...(step ? { sinceMs: step.sinceMs } : {}) }];
}
