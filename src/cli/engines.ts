import type { ListedEngine, ListedFeatures } from '../ports/listed-engine.ts';
import { printable } from '../base/printable.ts';
import { UsageError } from './command-io.ts';
import { parseArguments } from './parse-arguments.ts';
import { table } from './table.ts';

export const enginesUsage = `Usage: rxlet engines [-o json] [ENDPOINT...]

Lists the container engines of this machine, whether they answer, and what they can do; or those at the ENDPOINTs, which are
unix:///PATH or tcp://HOST:PORT. An agent without --container-runtime-endpoint drives the one with a star, or else that of its last run.

Exit code: 0 at least one answers, 1 none does, 2 asked for wrongly.
`;

export const enginesFlags = { output: { short: 'o', value: true }, help: { short: 'h' } } as const;

const WIDTH = 80;

export interface EnginesIo {
  readonly stdout: { write(text: string): unknown };
  readonly stderr: { write(text: string): unknown };
}

/** `rxlet engines`. Resolves with the exit code. */
export async function runEngines(
  argv: readonly string[],
  { stdout, stderr }: EnginesIo,
  list: (endpoints: readonly string[]) => Promise<readonly ListedEngine[]>,
): Promise<number> {
  let endpoints: readonly string[];
  let output: string;
  try {
    const { flags, words, rest = [] } = parseArguments(argv, enginesFlags);
    if (flags['help'] === 'true') {
      stdout.write(enginesUsage);
      return 0;
    }
    [endpoints, output] = [[...words, ...rest], flags['output'] ?? ''];
    if (output !== '' && output !== 'json') throw new UsageError(`-o is json, not ${JSON.stringify(output)}`);
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    stderr.write(`${error.message}\n\n${enginesUsage}`);
    return 2;
  }
  const engines = await list(endpoints.map((endpoint) => (endpoint.startsWith('/') ? `unix://${endpoint}` : endpoint)));
  stdout.write(output === 'json' ? `${JSON.stringify(engines, null, 2)}\n` : enginesText(engines));
  return engines.some(({ answers }) => answers) ? 0 : 1;
}

/** No line is longer than 80 columns, as far as the engines' own words allow it. */
export function enginesText(engines: readonly ListedEngine[]): string {
  const rows = engines.map((engine) =>
    engine.answers
      ? [engine.first ? '*' : '', engine.name, engine.version, engine.api, shortened(engine.endpoint)]
      : ['', engine.name, '-', '-', shortened(engine.endpoint)],
  );
  const parts = [table(['', 'ENGINE', 'VERSION', 'API', 'SOCKET'], rows)];
  const able = engines.flatMap((engine) => (engine.answers && engine.features ? [{ ...engine, features: engine.features }] : []));
  if (able.length > 0) {
    const header = ['', ...able.map(({ name }) => name)];
    parts.push(
      table(
        header,
        abilities.map(([label, of]) => [label, ...able.map(({ features }) => of(features))]),
      ),
    );
    parts.push(
      able.map(({ name, features }) => paragraph(`handlers of ${name}: `, features.handlers.map(handlerName).join(', '))).join(''),
    );
  }
  const said = engines.flatMap((engine) => {
    if (!engine.answers) return [paragraph(`${engine.endpoint}: `, `${engine.found}; to do: ${engine.toDo}`)];
    return engine.problem === undefined ? [] : [paragraph(`${engine.endpoint}: `, engine.problem)];
  });
  parts.push(said.join(''));
  return parts.filter((part) => part !== '').join('\n');
}

const yesOrNo = (can: boolean): string => (can ? 'yes' : 'no');
const handlerName = ({ name }: ListedFeatures['handlers'][number], at: number): string => (at === 0 ? 'its default' : name);

const abilities: readonly (readonly [string, (features: ListedFeatures) => string])[] = [
  ['events', ({ events }) => yesOrNo(events)],
  ['resize while it runs', ({ resize }) => yesOrNo(resize)],
  ['handlers', ({ handlers }) => String(handlers.length)],
  ['user namespaces', ({ handlers }) => yesOrNo(handlers[0]?.userNamespaces ?? false)],
  ['recursive read-only', ({ handlers }) => yesOrNo(handlers[0]?.recursiveReadOnly ?? false)],
  ['image volumes', ({ imageVolumes }) => yesOrNo(imageVolumes !== 'never')],
  ['strict supplemental groups', ({ supplementalGroupsPolicy }) => yesOrNo(supplementalGroupsPolicy)],
  ['cgroups', ({ cgroups }) => (cgroups ? `v${cgroups.version}, ${cgroups.driver}` : 'none')],
];

const shortened = (endpoint: string): string => endpoint.replace(/^unix:\/\//, '');

/** Words of others' making, on lines that are indented from the second on. */
function paragraph(before: string, text: string): string {
  const lines: string[] = [];
  let line = printable(before).trimEnd();
  for (const word of printable(text).split(' ')) {
    if (line.length + 1 + word.length > WIDTH && line.trim() !== '') {
      lines.push(line);
      line = `  ${word}`;
    } else line = `${line} ${word}`;
  }
  return [...lines, line].map((each) => `${each}\n`).join('');
}
