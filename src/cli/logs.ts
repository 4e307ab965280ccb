import { parseGoDuration } from '../model/go-duration.ts';
import type { AgentClient } from './agent-client.ts';
import { CommandError, type CommandIo, UsageError } from './command-io.ts';
import { copyOut } from './copy-out.ts';
import { parseArguments } from './parse-arguments.ts';
import { chooseContainer, choosePod, listPods } from './pod-names.ts';

export const logsFlags = {
  namespace: { short: 'n', value: true },
  container: { short: 'c', value: true },
  follow: { short: 'f' },
  previous: { short: 'p' },
  timestamps: { short: 't' },
  tail: { value: true },
  since: { value: true },
  'since-time': { value: true },
  'limit-bytes': { value: true },
  stream: { value: true },
  agent: {},
} as const;

export const logsUsage = `Usage: rxlet logs [flags] [NAMESPACE/]POD [CONTAINER]

       rxlet logs --agent [-f] [--since DURATION] [--tail LINES]

Prints what a container of a pod on this node has written; with --agent, what the agent itself has logged, or would have at --v=4.

  -c, --container NAME     the container; the pod's first one unless said
  -f, --follow             go on as more is written
  -p, --previous           of the container's life before this one
  -t, --timestamps         with the time of each line
      --tail LINES         the last lines only
      --since DURATION     not older than, such as 5m
      --since-time TIME    not older than, such as 2026-01-02T15:04:05Z
      --limit-bytes BYTES  no more than
      --stream NAME        stdout or stderr alone
  -n, --namespace NAME
`;

const NS_PER_SECOND = 1_000_000_000n;

export async function runLogs(argv: readonly string[], agent: Pick<AgentClient, 'json' | 'stream'>, io: CommandIo): Promise<number> {
  const { stdout, stderr } = io;
  const { flags, words, rest } = parseArguments(argv, logsFlags);
  if (flags['agent'] !== undefined) {
    if (words.length > 0) throw new UsageError("the agent's log is of no pod; 'rxlet timeline POD' is what happened to one");
    const { runAgentLogs } = await import('./timeline.ts');
    return await runAgentLogs(flags, agent, io);
  }
  const [asked, second, ...others] = words;
  if (asked === undefined) throw new UsageError('which pod?');
  if (others.length > 0 || rest !== undefined || (second !== undefined && flags['container'] !== undefined))
    throw new UsageError('one pod and one container at a time');
  const query = logQuery(flags);
  const chosen = choosePod(await listPods(agent), asked, flags['namespace']);
  const { container, note } = chooseContainer(chosen, flags['container'] ?? second);
  if (note !== undefined) stderr.write(note);
  const path = ['containerLogs', chosen.namespace, chosen.name, container].map(encodeURIComponent).join('/');
  const body = await agent.stream(`/${path}${query === '' ? '' : `?${query}`}`);
  if (await copyOut(body, stdout)) return 0;
  throw new CommandError('the log was broken off');
}

function logQuery(flags: Readonly<Record<string, string>>): string {
  const query = new URLSearchParams();
  for (const name of ['follow', 'previous', 'timestamps']) if (flags[name] !== undefined) query.set(name, 'true');
  const { tail, since, stream } = flags;
  // As kubectl has it: everything.
  if (tail !== undefined && tail !== '-1') query.set('tailLines', count(tail, '--tail'));
  if (since !== undefined) query.set('sinceSeconds', sinceSeconds(since));
  if (flags['since-time'] !== undefined) query.set('sinceTime', flags['since-time']);
  if (flags['limit-bytes'] !== undefined) query.set('limitBytes', count(flags['limit-bytes'], '--limit-bytes'));
  if (stream !== undefined) query.set('stream', streamName(stream));
  return query.toString();
}

function count(text: string, flag: string): string {
  if (!/^\d+$/.test(text)) throw new UsageError(`${flag} is a whole number, not ${text}`);
  return text;
}

/** Rounded up to whole seconds, as kubectl does. */
function sinceSeconds(text: string): string {
  let ns: bigint;
  try {
    ns = parseGoDuration(text);
  } catch {
    throw new UsageError(`--since is a duration such as 90s or 5m, not ${text}`);
  }
  if (ns <= 0n) throw new UsageError('--since is more than nothing');
  return String((ns + NS_PER_SECOND - 1n) / NS_PER_SECOND);
}

function streamName(text: string): string {
  if (/^stdout$/i.test(text)) return 'Stdout';
  if (/^stderr$/i.test(text)) return 'Stderr';
  throw new UsageError(`--stream is stdout or stderr, not ${text}`);
}
