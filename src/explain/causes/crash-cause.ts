import type { Cause } from '../../model/explanation.ts';
import { type ContainerView, dateMs, lastEnd, type Terminated, title } from '../container-view.ts';
import type { SeenEvent } from '../pod-facts.ts';
import { startFault } from './start-cause.ts';

interface Crash {
  readonly code: string;
  readonly text: string;
  readonly detail?: string;
  readonly advice: string;
}

/** What programs write before they end, where that tells why. */
const lineFaults: readonly { readonly is: RegExp; readonly code: string; readonly advice: string }[] = [
  {
    is: /read-only file system/i,
    code: 'read-only-file-system',
    advice: 'mount a volume (emptyDir) where it writes, or turn readOnlyRootFilesystem off',
  },
  {
    is: /bad address|name or service not known|name resolution|no such host|could not resolve|name does not resolve|can't resolve/i,
    code: 'name-not-resolved',
    advice: "correct the host name it asks for, or look at the cluster's DNS and the pod's dnsPolicy",
  },
  { is: /address already in use/i, code: 'port-taken', advice: 'choose another port, or end what uses it (ss -ltnp)' },
  { is: /connection refused/i, code: 'connection-refused', advice: 'look at the service that it wants to reach' },
  { is: /no space left on device/i, code: 'disk-full', advice: 'make room on the disk' },
  {
    is: /permission denied|operation not permitted/i,
    code: 'permission-denied',
    advice: "look at the pod's securityContext and at who owns the files",
  },
  {
    is: /exec format error/i,
    code: 'exec-format',
    advice: 'build the image for this architecture, or give the script an interpreter line',
  },
  { is: /not found/i, code: 'command-not-found', advice: 'correct command or args, or use an image that has the program' },
];

/** Why the container ended; undefined: it has not, or as it should. */
export function crashCause(view: ContainerView, mayEnd: boolean): Cause | undefined {
  const { status } = view;
  const end = lastEnd(view);
  const { reason = '', message = '' } = status?.state?.waiting ?? {};
  const isHeld = reason === 'CrashLoopBackOff';
  if (!end || (!isHeld && !status?.state?.terminated && !hasJustRestarted(view))) return undefined;
  if (!isHeld && ((end.exitCode === 0 && mayEnd) || wasStopped(view.events, end))) return undefined;
  const { text, ...crash } = crashOf(view, end);
  const restarts = status?.restartCount ?? 0;
  const untilMs = isHeld ? backOffEnd(message, end) : undefined;
  return {
    ...crash,
    kind: 'fault',
    container: view.name,
    text: `${title(view)} ${text}${restarts > 0 ? `; restarted ${restarts === 1 ? 'once' : `${restarts} times`}` : ''}`,
    ...(dateMs(end.finishedAt) === undefined ? {} : { sinceMs: dateMs(end.finishedAt) as number }),
    ...(untilMs === undefined ? {} : { untilMs }),
  };
}

/** It runs again, not well yet. */
function hasJustRestarted({ status }: ContainerView): boolean {
  return (status?.restartCount ?? 0) > 0 && status?.state?.running !== undefined;
}

function crashOf({ events, lastLines, spec }: ContainerView, end: Terminated): Crash {
  const killed = killedByProbe(events, end);
  if (killed) {
    const unhealthy = events.findLast(({ reason, message }) => reason === 'Unhealthy' && message.toLowerCase().startsWith(killed));
    const words = unhealthy?.message.replace(/^\w+ probe (?:failed|errored): /, '') ?? '';
    return {
      code: `${killed}-failed`,
      text: `is restarted because its ${killed} probe fails${words === '' ? '' : `: ${oneLine(words)}`}`,
      advice: `look at what the ${killed} probe asks for; raise its initialDelaySeconds, timeoutSeconds or failureThreshold if it is only slow`,
    };
  }
  if (end.reason === 'OOMKilled') {
    const limit = spec?.resources?.limits?.['memory'];
    return {
      code: 'out-of-memory',
      text: `was killed because it ran out of memory (OOMKilled)${limit === undefined ? '' : `: its limit is ${limit}`}`,
      advice: 'raise resources.limits.memory, or find out why it needs so much',
    };
  }
  const fault = end.reason === 'ContainerCannotRun' || end.reason === 'StartError' ? startFault(end.message ?? '') : undefined;
  if (fault) return { code: fault.code, text: `cannot be started: ${fault.what}`, detail: end.message ?? '', advice: fault.advice ?? '' };
  const said = end.message !== undefined && end.message !== '' ? end.message : tellingLine(lastLines);
  const known = [end.message ?? '', ...lastLines.toReversed()].flatMap((line) => lineFaults.filter(({ is }) => is.test(line)))[0];
  const ran = ranFor(end);
  const words = said === undefined ? '' : `: ${oneLine(said)}`;
  return {
    code: known?.code ?? codeOf(end.exitCode),
    text: `${end.exitCode === 0 ? 'ends' : 'crashes'}: exit code ${end.exitCode}${meaning(end.exitCode)}${ran}${words}`,
    advice: known?.advice ?? 'look at what it wrote (rxlet logs, with --previous), and at its command',
  };
}

/** On purpose, to be started again or to end. */
function wasStopped(events: readonly SeenEvent[], end: Terminated): boolean {
  const killing = events.findLast(({ reason }) => reason === 'Killing');
  const [from = 0, to = 0] = [dateMs(end.startedAt), dateMs(end.finishedAt)];
  if (!killing || /failed (?:liveness|startup) probe/.test(killing.message)) return false;
  return killing.atMs >= from && killing.atMs <= to + 2_000;
}

/** Which probe had it stopped; undefined: none. */
function killedByProbe(events: readonly SeenEvent[], end: Terminated): 'liveness' | 'startup' | undefined {
  const killing = events.findLast(({ reason, message }) => reason === 'Killing' && /failed (liveness|startup) probe/.test(message));
  const finishedMs = dateMs(end.finishedAt);
  // Dates of the engine are whole seconds; and it is stopped after the event, by its grace period.
  if (!killing || finishedMs === undefined || finishedMs + 1_000 < killing.atMs) return undefined;
  return /liveness/.test(killing.message) ? 'liveness' : 'startup';
}

function tellingLine(lines: readonly string[]): string | undefined {
  const full = lines.filter((line) => line.trim() !== '');
  return (
    full.findLast((line) => lineFaults.some(({ is }) => is.test(line))) ??
    full.findLast((line) => /error|fail|fatal|panic|exception/i.test(line)) ??
    full.at(-1)
  );
}

const MOST_QUOTED = 100;

/** What is quoted of others within a sentence. */
export function oneLine(text: string): string {
  const flat = text
    .trim()
    .replaceAll(/\s+/g, ' ')
    // As Go's clients put it, whom the kubelet quotes: what matters comes last.
    .replace(/^Get "([^"]+)": (?:dial \w+ \S+: )?(?:connect: )?/, '$1: ')
    .replace(/^dial tcp (\S+): (?:connect: )?/, '$1: ')
    .replace(/^Exec lifecycle hook \(.*?\) for Container "[^"]*" in Pod "[^"]*" failed - error: /, '');
  return flat.length > MOST_QUOTED ? `${flat.slice(0, MOST_QUOTED)}…` : flat;
}

const MOST_BELATED_MS = 60_000;

function ranFor({ startedAt, finishedAt }: Terminated): string {
  const [from, to] = [dateMs(startedAt), dateMs(finishedAt)];
  // An engine that is busy notes when something started after it has ended.
  if (from === undefined || to === undefined || from - to > MOST_BELATED_MS || to - from > 3_600_000) return '';
  // Whole seconds: those of what ran for a moment may be one apart.
  return to - from <= 1_000 ? ' at once' : ` after ${Math.round((to - from) / 1000)} s`;
}

/** By what shells and kernels mean with it. */
function meaning(code: number): string {
  if (code === 126) return ' (its command may not be executed)';
  if (code === 127) return ' (its command is not found)';
  if (code === 137) return ' (killed, SIGKILL)';
  if (code === 139) return ' (segmentation fault)';
  if (code === 143) return ' (ended by SIGTERM)';
  return '';
}

function codeOf(exitCode: number): string {
  if (exitCode === 127) return 'command-not-found';
  return exitCode === 0 ? 'ended' : 'crashed';
}

/** "back-off 20s restarting failed container=app …", from the end of the last run on. */
function backOffEnd(message: string, end: Terminated): number | undefined {
  const [, minutes = '0', seconds] = /^back-off (?:(\d+)m)?(\d+(?:\.\d+)?)s /.exec(message) ?? [];
  const finishedMs = dateMs(end.finishedAt);
  return seconds === undefined || finishedMs === undefined ? undefined : finishedMs + Number(minutes) * 60_000 + Number(seconds) * 1000;
}
