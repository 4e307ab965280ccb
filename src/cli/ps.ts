import { CONFIG_SOURCE_ANNOTATION } from '../model/config-annotations.ts';
import type { AgentClient } from './agent-client.ts';
import { type CommandIo, UsageError } from './command-io.ts';
import { parseArguments } from './parse-arguments.ts';
import { listPods, type NamedPod } from './pod-names.ts';
import { podSummary } from './pod-summary.ts';
import { table } from './table.ts';
import { harmlessJson } from './harmless-json.ts';

export const psFlags = {
  namespace: { short: 'n', value: true },
  'all-namespaces': { short: 'A' },
  output: { short: 'o', value: true },
} as const;

export const psUsage = `Usage: rxlet ps [-n NAMESPACE] [-o wide|json]

Lists the pods that should run on this node, of all namespaces unless one is named, with the columns of 'kubectl get pods'.
`;

/** Colours by a word of the STATUS. */
const fine = new Set(['Running', 'Completed', 'Succeeded']);
const onTheWay = new Set(['Pending', 'ContainerCreating', 'PodInitializing', 'Terminating', 'NotReady', 'Unknown']);

export async function runPs(
  argv: readonly string[],
  agent: Pick<AgentClient, 'json'>,
  { stdout, plain, nowMs }: CommandIo,
): Promise<number> {
  const { flags, words, rest } = parseArguments(argv, psFlags);
  if (words.length > 0 || rest !== undefined) throw new UsageError('ps takes no arguments');
  const { output = '', namespace } = flags;
  if (output !== '' && output !== 'wide' && output !== 'json') throw new UsageError(`-o is wide or json, not ${output}`);
  const pods = (await listPods(agent)).filter((pod) => namespace === undefined || pod.namespace === namespace);
  if (output === 'json') {
    const items = pods.map(({ pod }) => ({ apiVersion: 'v1', kind: 'Pod', ...pod }));
    stdout.write(`${harmlessJson(JSON.stringify({ apiVersion: 'v1', kind: 'PodList', metadata: {}, items }, null, 4))}\n`);
  } else if (pods.length === 0) {
    stdout.write(namespace === undefined ? 'No pods on this node.\n' : `No pods in namespace ${namespace} on this node.\n`);
  } else {
    const wide = output === 'wide';
    const header = ['NAMESPACE', 'NAME', 'READY', 'STATUS', 'RESTARTS', 'AGE', ...(wide ? ['IP', 'SOURCE', 'UID'] : [])];
    const paint = stdout.isTTY === true && !plain ? paintStatus : undefined;
    stdout.write(
      table(
        header,
        pods.map((pod) => row(pod, wide, nowMs())),
        paint,
      ),
    );
  }
  return 0;
}

function row({ name, namespace, pod }: NamedPod, wide: boolean, nowMs: number): readonly string[] {
  const { ready, status, restarts, age } = podSummary(pod, nowMs);
  const { annotations, uid = '<none>' } = pod.metadata ?? {};
  const more = [pod.status?.podIP ?? '<none>', annotations?.[CONFIG_SOURCE_ANNOTATION] ?? 'api', uid];
  return [namespace, name, ready, status, restarts, age, ...(wide ? more : [])];
}

function paintStatus(cell: string, column: string): string {
  if (column !== 'STATUS' || fine.has(cell)) return cell;
  const colour = onTheWay.has(cell) || /^Init:\d/.test(cell) ? 33 : 31;
  return `\u001b[${colour}m${cell}\u001b[0m`;
}
