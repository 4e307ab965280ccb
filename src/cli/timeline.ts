import { once } from 'node:events';
import type { StreamEntry } from '../model/stream-entry.ts';
import type { AgentClient } from './agent-client.ts';
import { CommandError, type CommandIo, UsageError } from './command-io.ts';
import { entriesOf, logLineOf, timelineLine } from './entry-lines.ts';
import { harmlessJson } from './harmless-json.ts';
import { parseArguments } from './parse-arguments.ts';
import { choosePod, listPods } from './pod-names.ts';

export const timelineFlags = {
  namespace: { short: 'n', value: true },
  follow: { short: 'f' },
  since: { value: true },
  until: { value: true },
  stream: { value: true },
  limit: { value: true },
  output: { short: 'o', value: true },
} as const;

export const timelineUsage = `Usage: rxlet timeline [flags] [[NAMESPACE/]POD | UID]

Prints what has happened on this node, or to one pod, also before the agent was started last: looks at pods and what came of them, and what
the agent has logged or would have logged at --v=4.

  -f, --follow             go on as more happens
      --since DURATION     not older than, such as 10m, or a time such as 2026-01-02T15:04:05Z
      --until TIME         not newer than; a duration counts back from now, too
      --stream NAMES       of these parts of the agent alone, such as reconcile,probes
      --limit N            the newest only
  -o, --output json        a line of JSON for each
  -n, --namespace NAME
`;

export async function runTimeline(argv: readonly string[], agent: Pick<AgentClient, 'json' | 'stream'>, io: CommandIo): Promise<number> {
  const { flags, words, rest } = parseArguments(argv, timelineFlags);
  const [asked, ...others] = words;
  if (others.length > 0 || rest !== undefined) throw new UsageError('one pod at a time');
  const { output = '', namespace } = flags;
  if (output !== '' && output !== 'json') throw new UsageError(`-o is json, not ${output}`);
  const query = new URLSearchParams();
  for (const name of ['follow', 'since', 'until', 'stream', 'limit']) if (flags[name] !== undefined) query.set(name, flags[name]);
  if (asked !== undefined) query.set('pod', await podNamed(agent, asked, namespace));
  return await printEntries(query, agent, io, ({ entry, line }) =>
    output === 'json' ? harmlessJson(line) : timelineLine(entry, io.nowMs()),
  );
}

/** `rxlet logs --agent`: what the agent has logged, or would have at --v=4. */
export async function runAgentLogs(
  flags: Readonly<Record<string, string>>,
  agent: Pick<AgentClient, 'stream'>,
  io: CommandIo,
): Promise<number> {
  const query = new URLSearchParams();
  if (flags['follow'] !== undefined) query.set('follow', 'true');
  const since = flags['since'] ?? flags['since-time'];
  if (since !== undefined) query.set('since', since);
  if (flags['tail'] !== undefined && flags['tail'] !== '-1') query.set('limit', flags['tail']);
  return await printEntries(query, agent, io, ({ entry }) => logLineOf(entry));
}

/** A pod that is gone has no more than the name that was asked for. */
async function podNamed(agent: Pick<AgentClient, 'json'>, asked: string, namespace: string | undefined): Promise<string> {
  try {
    const { namespace: found, name } = choosePod(await listPods(agent), asked, namespace);
    return `${found}/${name}`;
  } catch (error) {
    if (!(error instanceof CommandError)) throw error;
    const name = asked.replace(/^pods?\//, '');
    return namespace === undefined || name.includes('/') ? name : `${namespace}/${name}`;
  }
}

async function printEntries(
  query: URLSearchParams,
  agent: Pick<AgentClient, 'stream'>,
  { stdout }: CommandIo,
  textOf: (each: { readonly entry: StreamEntry; readonly line: string }) => string,
): Promise<number> {
  const body = await agent.stream(`/rxlet/v1/timeline?${query.toString()}`);
  // `rxlet timeline | head`: nothing more is wanted.
  const gone = new AbortController();
  stdout.on('error', () => {
    gone.abort();
    body.destroy();
  });
  try {
    for await (const each of entriesOf(body)) {
      if (gone.signal.aborted) return 0;
      if (!stdout.write(`${textOf(each)}\n`)) await once(stdout, 'drain', { signal: gone.signal });
    }
  } catch (error) {
    if (!gone.signal.aborted) throw new CommandError(`the timeline was broken off: ${String(error)}`);
  }
  return 0;
}
