import { printable } from '../base/printable.ts';
import { effectiveOptions } from '../options/effective-options.ts';
import { type LoadedOptions, OptionsError } from '../options/load-options.ts';
import { type OptionWarning, optionGroups } from '../options/option.ts';
import { UsageError } from './command-io.ts';
import { harmlessJson } from './harmless-json.ts';
import { table } from './table.ts';

export interface ConfigIo {
  readonly stdout: { write(text: string): unknown };
  readonly stderr: { write(text: string): unknown };
}

/** As the agent reads its flags, and the files that they name. Rejects with OptionsError. */
export type LoadOptions = (argv: readonly string[]) => Promise<LoadedOptions>;

export const configUsage = `Usage: rxlet config check [FILE...] [FLAG...] [-o json]
       rxlet config print [FLAG...] [-o json]

check says all that is wrong with config files and flags, without starting anything: with each FILE in the place of --config, or with what the
flags name. FLAGs are those of the agent. Other files that options name, such as a kubeconfig, are looked at by the agent's start alone: the options may
be those of another machine. print shows what every option is, and where that comes from: a flag, a file of --config-dir, the file of
--config, or the default.

Exit code: 0 nothing is wrong, 1 something is, 2 asked for wrongly.
`;

/** Of a value in a table. */
const MAX_SHOWN = 1000;

const NO_CONFIG =
  'expected a KubeletConfiguration, found a pod, or a directory, which --config took as manifests once: rxlet validate checks manifests, and --config-dir=DIR names drop-in files';

interface Asked {
  readonly action: 'check' | 'print' | 'help';
  readonly files: readonly string[];
  readonly flags: readonly string[];
  readonly json: boolean;
}

/** `rxlet config`. Resolves with the exit code. */
export async function runConfig(argv: readonly string[], io: ConfigIo, load: LoadOptions): Promise<number> {
  let asked: Asked;
  try {
    asked = parse(argv);
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    io.stderr.write(`${error.message}\n\n${configUsage}`);
    return 2;
  }
  switch (asked.action) {
    case 'check':
      return check(asked, io, load);
    case 'print':
      return print(asked, io, load);
    case 'help':
      io.stdout.write(configUsage);
      return 0;
    default:
      return asked.action satisfies never;
  }
}

/** Files come before flags, whose values may look like files. Throws UsageError. */
function parse([action, ...words]: readonly string[]): Asked {
  const own: string[] = [];
  let json = false;
  let help = action === '--help' || action === '-h';
  for (let at = 0; at < words.length; at++) {
    const word = words[at] ?? '';
    const [, inline] = /^(?:-o|--output)(?:=(.*))?$/s.exec(word) ?? [];
    if (word === '--help' || word === '-h') help = true;
    else if (inline === undefined && word !== '-o' && word !== '--output') own.push(word);
    else {
      const output = inline ?? words[++at];
      if (output !== 'json' && output !== 'text') throw new UsageError(`-o is json or text, not ${JSON.stringify(output ?? '')}`);
      json = output === 'json';
    }
  }
  if (help) return { action: 'help', files: [], flags: [], json };
  const firstFlag = own.findIndex((word) => word.startsWith('-'));
  const [files, flags] = firstFlag < 0 ? [own, []] : [own.slice(0, firstFlag), own.slice(firstFlag)];
  if (action !== 'check' && action !== 'print') throw new UsageError(`expected check or print, found ${JSON.stringify(action ?? '')}`);
  if (action === 'check' && (own.length === 0 || files.includes(''))) throw new UsageError('which file?');
  if (action === 'print' && files.length > 0) throw new UsageError(`print takes flags: --config=${files[0]}`);
  return { action, files, flags, json };
}

async function check({ files, flags, json }: Asked, { stdout }: ConfigIo, load: LoadOptions): Promise<number> {
  let isWrong = false;
  for (const file of files.length === 0 ? [undefined] : files) {
    const { problems, warnings } = await judged(file, flags, load);
    isWrong ||= problems.length > 0;
    const what = file ?? flags.join(' ');
    if (json) stdout.write(`${harmlessJson(JSON.stringify({ file: what, valid: problems.length === 0, problems, warnings }))}\n`);
    else {
      const said = [...problems, ...warnings.map((warning) => `${warningText(warning)} (warning)`)];
      stdout.write(`${[...said, ...(problems.length === 0 ? [`${what}: valid`] : [])].map(printable).join('\n')}\n`);
    }
  }
  return isWrong ? 1 : 0;
}

interface Judgement {
  readonly problems: readonly string[];
  readonly warnings: readonly OptionWarning[];
}

async function judged(file: string | undefined, flags: readonly string[], load: LoadOptions): Promise<Judgement> {
  try {
    const { options, warnings } = await load(file === undefined ? flags : [`--config=${file}`, ...flags]);
    // A kubelet of old took manifests there.
    const isOther = file !== undefined && options.configFile === '' && options.podManifestPath === file;
    return isOther ? { problems: [`${file}: ${NO_CONFIG}`], warnings: [] } : { problems: [], warnings };
  } catch (error) {
    if (!(error instanceof OptionsError)) throw error;
    return { problems: error.problems, warnings: error.warnings };
  }
}

/** All rows of a table are as wide as the widest. */
const shown = (value: string): string =>
  value.length > MAX_SHOWN ? `${value.slice(0, MAX_SHOWN)}… (${value.length} characters: whole with -o json)` : value;

const warningText = ({ at, option, message }: OptionWarning): string =>
  `${at === undefined ? '' : `${at} `}${option.startsWith('--') ? 'flag ' : ''}${option}: ${message}`;

async function print({ flags, json }: Asked, { stdout, stderr }: ConfigIo, load: LoadOptions): Promise<number> {
  try {
    const options = effectiveOptions(await load(flags));
    if (json) {
      stdout.write(`${harmlessJson(JSON.stringify(options, null, 2))}\n`);
      return 0;
    }
    for (const group of optionGroups) {
      const rows = options
        .filter((option) => option.group === group)
        .map(({ name, value, from, at }) => [name, shown(value), `${from} ${at ?? ''}`.trim()]);
      stdout.write(`${group === optionGroups[0] ? '' : '\n'}${table([group.toUpperCase(), 'VALUE', 'FROM'], rows)}`);
    }
    return 0;
  } catch (error) {
    if (!(error instanceof OptionsError)) throw error;
    for (const problem of error.problems) stderr.write(`rxlet: ${printable(problem)}\n`);
    return 1;
  }
}
