import type { AgentClient } from './agent-client.ts';
import { CommandError, type CommandIo, UsageError } from './command-io.ts';
import { parseArguments } from './parse-arguments.ts';
import { choosePod, listPods } from './pod-names.ts';
import { table } from './table.ts';
import { harmlessJson } from './harmless-json.ts';

export const statsFlags = { namespace: { short: 'n', value: true }, output: { short: 'o', value: true } } as const;

export const statsUsage = `Usage: rxlet stats [-n NAMESPACE] [-o json] [[NAMESPACE/]POD]

What the pods on this node use now, or the containers of one pod, with the columns of 'kubectl top'.
`;

/** The parts of a stats/v1alpha1 Summary that are shown. */
interface Usage {
  readonly cpu?: { readonly usageNanoCores?: number };
  readonly memory?: { readonly workingSetBytes?: number };
}
interface PodUsage extends Usage {
  readonly podRef: { readonly name: string; readonly namespace: string };
  readonly containers?: readonly (Usage & { readonly name: string })[];
}

export async function runStats(argv: readonly string[], agent: Pick<AgentClient, 'json'>, { stdout }: CommandIo): Promise<number> {
  const { flags, words, rest } = parseArguments(argv, statsFlags);
  const [asked, ...others] = words;
  if (others.length > 0 || rest !== undefined) throw new UsageError('one pod at a time');
  const { output = '', namespace } = flags;
  if (output !== '' && output !== 'json') throw new UsageError(`-o is json, not ${output}`);
  const chosen = asked === undefined ? undefined : choosePod(await listPods(agent), asked, namespace);
  const summary = await agent.json('/stats/summary');
  if (!isSummary(summary)) throw new CommandError("the agent's answer is not a summary");
  const wanted = ({ podRef }: PodUsage): boolean =>
    chosen
      ? podRef.name === chosen.name && podRef.namespace === chosen.namespace
      : namespace === undefined || podRef.namespace === namespace;
  const pods = (summary.pods ?? []).filter(wanted);
  if (output === 'json') {
    const shown = asked === undefined && namespace === undefined ? summary : { pods };
    stdout.write(`${harmlessJson(JSON.stringify(shown, null, 4))}\n`);
    return 0;
  }
  if (pods.length === 0)
    throw new CommandError(chosen ? `nothing is known of ${chosen.namespace}/${chosen.name} yet` : 'no pods are running');
  const rows = chosen
    ? pods.flatMap(({ containers = [] }) => containers.map((one) => [one.name, ...amounts(one)]))
    : pods.map((pod) => [pod.podRef.namespace, pod.podRef.name, ...amounts(podTotal(pod))]);
  const header = chosen ? ['CONTAINER', 'CPU(cores)', 'MEMORY(bytes)'] : ['NAMESPACE', 'NAME', 'CPU(cores)', 'MEMORY(bytes)'];
  stdout.write(
    table(
      header,
      rows.toSorted((a, b) => (a.join('\n') < b.join('\n') ? -1 : 1)),
    ),
  );
  return 0;
}

/** The pod's own figures, else the sum of its containers', which is what 'kubectl top' shows. */
function podTotal({ containers = [], cpu, memory }: PodUsage): Usage {
  const sum = (values: readonly (number | undefined)[]): number | undefined => {
    const known = values.filter((value) => value !== undefined);
    return known.length === 0 ? undefined : known.reduce((total, value) => total + value, 0);
  };
  const usageNanoCores = cpu?.usageNanoCores ?? sum(containers.map((one) => one.cpu?.usageNanoCores));
  const workingSetBytes = memory?.workingSetBytes ?? sum(containers.map((one) => one.memory?.workingSetBytes));
  return {
    cpu: usageNanoCores === undefined ? {} : { usageNanoCores },
    memory: workingSetBytes === undefined ? {} : { workingSetBytes },
  };
}

/** "12m", "34Mi", rounded as 'kubectl top' does; "<unknown>" until there are two looks to compare. */
function amounts({ cpu, memory }: Usage): readonly string[] {
  const cores = cpu?.usageNanoCores === undefined ? '<unknown>' : `${Math.ceil(cpu.usageNanoCores / 1e6)}m`;
  const bytes = memory?.workingSetBytes === undefined ? '<unknown>' : `${Math.floor(memory.workingSetBytes / 2 ** 20)}Mi`;
  return [cores, bytes];
}

function isSummary(value: unknown): value is { readonly pods?: readonly PodUsage[] } {
  return typeof value === 'object' && value !== null && (!('pods' in value) || value.pods === null || Array.isArray(value.pods));
}
