import { basename, isAbsolute, resolve } from 'node:path';
import type { ExplainedInShort, ExplainedNode, Explanation } from '../model/explanation.ts';
import type { AgentClient } from './agent-client.ts';
import { CommandError, type CommandIo, UsageError } from './command-io.ts';
import { explanationText, nodeText } from './explanation-text.ts';
import { parseArguments } from './parse-arguments.ts';
import { table } from './table.ts';
import { harmlessJson } from './harmless-json.ts';

export const explainFlags = {
  namespace: { short: 'n', value: true },
  output: { short: 'o', value: true },
} as const;

export const explainUsage = `Usage: rxlet explain [-n NAMESPACE] [-o json] [[NAMESPACE/]POD | FILE | node]

Says why a pod is in the state that it is in: what is wrong, or what it waits for, since when, when it is looked at again, and what can be
done; where it comes from, its containers as declared and as they are, the last decision and its reasons. Also of pods that are gone, for
an hour, and of manifests that are refused, by their file or by the pod's name. 'rxlet explain node' says it of the node; without a name
there is a line for each pod.
`;

export async function runExplain(argv: readonly string[], agent: Pick<AgentClient, 'json'>, io: CommandIo): Promise<number> {
  const { flags, words, rest } = parseArguments(argv, explainFlags);
  const [asked, ...others] = words;
  if (others.length > 0 || rest !== undefined) throw new UsageError('one pod at a time');
  const { output = '', namespace } = flags;
  if (output !== '' && output !== 'json') throw new UsageError(`-o is json, not ${output}`);
  const print = (value: unknown, text: () => string): number => {
    io.stdout.write(output === 'json' ? `${harmlessJson(JSON.stringify(value, null, 4))}\n` : text());
    return 0;
  };
  if (asked === 'node') {
    const node = (await agent.json('/rxlet/v1/explain-node')) as ExplainedNode;
    return print(node, () => nodeText(node));
  }
  const all = itemsOf(await agent.json('/rxlet/v1/explain')) as readonly ExplainedInShort[];
  const inNamespace = all.filter(({ pod }) => namespace === undefined || pod.startsWith(`${namespace}/`));
  if (asked === undefined) return print({ items: inNamespace }, () => listText(inNamespace));
  const found = itemsOf(await agent.json(pathOf(choose(inNamespace, asked)))) as readonly Explanation[];
  return print({ items: found }, () => found.map((each) => explanationText(each, io.nowMs())).join('\n'));
}

function pathOf({ pod, uid, where }: ExplainedInShort): string {
  if (uid === undefined && where !== undefined) return `/rxlet/v1/explain-manifest?path=${encodeURIComponent(where)}`;
  return `/rxlet/v1/explain/${pod.split('/').map(encodeURIComponent).join('/')}`;
}

/** By name, by name without the node's at its end, by uid, or by the manifest's file. Throws where that is none, or several. */
function choose(all: readonly ExplainedInShort[], asked: string): ExplainedInShort {
  const wanted = asked.replace(/^pods?\//, '');
  const nameOf = ({ pod }: ExplainedInShort): string => pod.slice(pod.indexOf('/') + 1);
  const ways: readonly ((each: ExplainedInShort) => boolean)[] = [
    (each) => each.pod === wanted || nameOf(each) === wanted || each.uid === wanted,
    // Static pods bear the node's name.
    (each) => each.pod.startsWith(`${wanted}-`) && isNodeSuffix(each, wanted, all),
    (each) => nameOf(each).startsWith(`${wanted}-`) && isNodeSuffix(each, wanted, all),
    ({ where }) => where !== undefined && (where === wanted || where === resolve(wanted)),
    ({ where }) => where !== undefined && !isAbsolute(wanted) && basename(where) === basename(wanted),
    ({ where }) => where !== undefined && basename(where).replace(/\.(?:ya?ml|json)$/, '') === wanted,
  ];
  for (const is of ways) {
    const found = all.filter(is);
    const [first] = found;
    if (!first) continue;
    const names = new Set(found.map(({ pod }) => pod));
    // One that is there counts before one that is gone.
    if (names.size === 1) return found.find(({ state }) => state !== 'gone') ?? first;
    throw new CommandError(`${JSON.stringify(asked)} could be ${[...names].join(' or ')}`);
  }
  throw new CommandError(
    `${JSON.stringify(asked)} is no pod on this node, was none within the last hour, and is no manifest that is refused; see 'rxlet explain'`,
  );
}

/** What follows the name is the same for all static pods: the node's name. A pod whose name only begins so is another one. */
function isNodeSuffix({ pod, where }: ExplainedInShort, wanted: string, all: readonly ExplainedInShort[]): boolean {
  if (where === undefined) return false;
  const suffix = pod.slice(pod.indexOf(wanted) + wanted.length);
  return all.every((each) => each.where === undefined || each.uid === undefined || each.pod.endsWith(suffix));
}

function listText(items: readonly ExplainedInShort[]): string {
  if (items.length === 0) return 'No pods on this node.\n';
  return table(
    ['POD', 'STATE', 'PHASE', 'WHY'],
    items.map(({ pod, state, phase = '-', cause }) => [pod, state, phase, cause?.text ?? '']),
  );
}

function itemsOf(value: unknown): readonly unknown[] {
  if (typeof value !== 'object' || value === null || !('items' in value) || !Array.isArray(value.items))
    throw new CommandError("the agent's answer explains nothing");
  return value.items;
}
