import { once } from 'node:events';
import { open } from 'node:fs/promises';
import { arch, cpus, hostname, release, totalmem } from 'node:os';
import type { Readable } from 'node:stream';
import { gzipSync } from 'node:zlib';
import { printable } from '../base/printable.ts';
import { version } from '../base/version.ts';
import { withoutCredentials } from '../base/without-credentials.ts';
import { errorCode } from '../base/error-code.ts';
import { KUBERNETES_VERSION } from '../model/kubernetes-release.ts';
import { CommandError, type CommandIo, UsageError } from './command-io.ts';
import { parseArguments } from './parse-arguments.ts';

export const supportBundleFlags = { output: { short: 'o', value: true } } as const;

export const supportBundleUsage = `Usage: rxlet support-bundle [-o FILE]

Writes what others need to help into one file of text, compressed: versions, the configuration and options in effect, pods with their states and
why, the node, and what has happened lately. It is made to be passed on: values of environments, commands, ConfigMaps and Secrets are not in it,
and what looks like a credential is [redacted]. Read it before you do (zless FILE). It never takes the place of a file that is there.

  -o, --output FILE   rxlet-support-HOST-TIME.txt.gz unless said
`;

/** Of each part, in characters; there are MAX_PODS parts beside those below. */
const MAX_PART = 2 ** 20;
const MAX_PODS = 100;
const MAX_IN_ALL = 2 ** 23;
const TIMELINE_ENTRIES = 5_000;

/** What is asked of an agent. Both reject with CommandError. */
export interface AnsweringAgent {
  json(path: string): Promise<unknown>;
  stream(path: string): Promise<Readable>;
}

export async function runSupportBundle(argv: readonly string[], agent: AnsweringAgent, io: CommandIo): Promise<number> {
  const { flags, words, rest } = parseArguments(argv, supportBundleFlags);
  if (words.length > 0 || rest !== undefined) throw new UsageError('support-bundle takes no arguments');
  const time = new Date(io.nowMs()).toISOString();
  const path = flags['output'] ?? `rxlet-support-${hostname()}-${time.replaceAll(/[-:]|\.\d+/g, '')}.txt.gz`;
  const text = await bundleText(agent, time);
  // For its owner alone until they pass it on.
  try {
    await using file = await open(path, 'wx', 0o600);
    await file.writeFile(gzipSync(text));
  } catch (error) {
    if (errorCode(error) === 'EEXIST') throw new CommandError(`${path} is there already, and stays as it is: name another file with -o`);
    throw new CommandError(`cannot write ${path}: ${error instanceof Error ? error.message : String(error)}`);
  }
  io.stdout.write(`${path}\n`);
  return 0;
}

/** All parts. What the agent does not answer stands in the part's place, and the others go on. */
export async function bundleText(agent: AnsweringAgent, time: string): Promise<string> {
  const parts = [part('versions', versions(time))];
  let room = MAX_IN_ALL;
  const add = async (name: string, read: () => Promise<string>): Promise<void> => {
    if (room <= 0) return;
    const made = part(name, await orWhyNot(read));
    room -= made.length;
    parts.push(made);
  };
  const json = (path: string) => async (): Promise<string> => JSON.stringify(await agent.json(path), null, 2);
  const text = (path: string) => async (): Promise<string> => await startOf(agent, path);
  await add('configuration in effect', json('/configz'));
  await add('flags in effect', text('/flagz'));
  await add('health', text('/healthz?verbose'));
  await add('node', json('/rxlet/v1/explain-node'));
  await add('pods', json('/rxlet/v1/explain'));
  for (const pod of await podsOf(agent))
    await add(`pod ${pod}`, json(`/rxlet/v1/explain/${pod.split('/').map(encodeURIComponent).join('/')}`));
  await add('what happened', text(`/rxlet/v1/timeline?limit=${TIMELINE_ENTRIES}`));
  return parts.join('\n');
}

const versions = (time: string): string =>
  [
    `rxlet ${version()}, Kubernetes ${KUBERNETES_VERSION}, Node.js ${process.version}`,
    `Linux ${release()} ${arch()}, ${cpus().length} CPUs, ${Math.round(totalmem() / 2 ** 20)} MiB`,
    `at ${time}`,
  ].join('\n');

/** The start says what it is; of what is too long the end is cut off. */
function part(name: string, text: string): string {
  const shown = text.length > MAX_PART ? `${text.slice(0, MAX_PART)}\n… ${text.length - MAX_PART} characters more` : text;
  const lines = withoutCredentials(shown).split('\n');
  return `== ${printable(name)}\n${lines.map((line) => printable(line)).join('\n')}\n`;
}

async function orWhyNot(read: () => Promise<string>): Promise<string> {
  try {
    return await read();
  } catch (error) {
    if (error instanceof CommandError) return error.message;
    throw error;
  }
}

/** Those that are not well first, as the agent lists them; none where it does not answer, which the part before this says. */
async function podsOf(agent: AnsweringAgent): Promise<readonly string[]> {
  try {
    const list = await agent.json('/rxlet/v1/explain');
    if (typeof list !== 'object' || list === null || !('items' in list) || !Array.isArray(list.items)) return [];
    const pods = list.items.flatMap((item: unknown) =>
      typeof item === 'object' && item !== null && 'pod' in item && 'uid' in item && typeof item.pod === 'string' ? [item.pod] : [],
    );
    return [...new Set(pods)].slice(0, MAX_PODS);
  } catch (error) {
    if (error instanceof CommandError) return [];
    throw error;
  }
}

/** No more of an answer than is shown of it. */
async function startOf(agent: AnsweringAgent, path: string): Promise<string> {
  const body = await agent.stream(path);
  body.setEncoding('utf8');
  let text = '';
  body.on('data', (piece: string) => {
    text += piece;
    if (text.length > MAX_PART) body.destroy();
  });
  await once(body, 'close');
  return text;
}
