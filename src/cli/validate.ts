import { readFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { formatManifestFault, type ManifestFault, type ManifestWarning } from '../model/manifest-fault.ts';
import { UsageError } from './command-io.ts';
import { parseArguments } from './parse-arguments.ts';
import { harmlessJson } from './harmless-json.ts';

export interface ValidateIo {
  readonly stdout: { write(text: string): unknown };
  readonly stderr: { write(text: string): unknown };
}

/** How manifests are found and judged; see manifestTools in sources. */
export interface ValidateTools {
  list(path: string): Promise<readonly string[]>;
  check(manifest: Uint8Array): {
    readonly pods: readonly string[];
    readonly objects: readonly string[];
    readonly faults: readonly ManifestFault[];
    readonly warnings: readonly ManifestWarning[];
  };
}

export const validateUsage = `Usage: rxlet validate PATH... [--output=text|json]

Says whether manifests would run, without running them, and warns of fields that are not honoured as they are written.
A PATH is a manifest or a directory of them.
With --output=json there is one object per file and line: {file, valid, errors: [{type, field, detail, line, column}], warnings}.

Exit code: 0 all are valid, 1 some are not, 2 something could not be read.
`;

export const validateFlags = { output: { short: 'o', value: true }, help: { short: 'h' } } as const;

/** Throws UsageError. */
function checkUsage(paths: readonly string[], output = 'text'): void {
  if (output !== 'text' && output !== 'json') throw new UsageError(`--output is text or json, not ${JSON.stringify(output)}`);
  if (paths.length === 0) throw new UsageError('which manifest?');
}

interface Report {
  readonly file: string;
  readonly errors: readonly ManifestFault[];
  readonly warnings: readonly ManifestWarning[];
}

/** `rxlet validate`. Resolves with the exit code. */
export async function runValidate(argv: readonly string[], { stdout, stderr }: ValidateIo, tools: ValidateTools): Promise<number> {
  let paths: readonly string[];
  let asked: Readonly<Record<string, string>>;
  try {
    const { flags, words, rest = [] } = parseArguments(argv, validateFlags);
    [paths, asked] = [[...words, ...rest], flags];
    if (asked['help'] === 'true') {
      stdout.write(validateUsage);
      return 0;
    }
    checkUsage(paths, asked['output']);
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    stderr.write(`${error.message}\n\n${validateUsage}`);
    return 2;
  }
  const print = asked['output'] === 'json' ? asJson : asText;
  let [unreadable, invalid] = [false, false];
  const failed = (path: string, error: unknown): void => {
    unreadable = true;
    stderr.write(`${path}: cannot be read: ${error instanceof Error ? error.message : String(error)}\n`);
  };
  const declared = new Map<string, string>();
  for (const path of paths) {
    let files: readonly string[] = [];
    try {
      files = await tools.list(path);
      if (files.length === 0) stderr.write(`${path}: no manifests\n`);
    } catch (error) {
      failed(path, error);
    }
    for (const file of files) {
      try {
        const report = checkFile(file, await readFile(file), tools, declared);
        invalid ||= report.errors.length > 0;
        stdout.write(print(report));
      } catch (error) {
        failed(file, error);
      }
    }
  }
  return unreadable ? 2 : invalid ? 1 : 0;
}

/** `declared` remembers who declared a pod or an object first: of two files in one directory only that one would run. */
function checkFile(file: string, manifest: Uint8Array, tools: ValidateTools, declared: Map<string, string>): Report {
  const { pods, objects, faults, warnings } = tools.check(manifest);
  const duplicates = [...pods, ...objects].flatMap((name): readonly ManifestFault[] => {
    const key = `${dirname(file)}\n${name}`;
    const first = declared.get(key);
    if (faults.length === 0 && first === undefined) declared.set(key, file);
    if (first === undefined || first === file) return [];
    const detail = pods.includes(name)
      ? `${first} declares this pod too, and only that one would run`
      : `${first} declares this object too, and only that one would count`;
    return [{ type: 'FieldValueDuplicate', field: 'metadata.name', detail, badValue: name, line: 1, column: 1 }];
  });
  return { file, errors: [...faults, ...duplicates], warnings };
}

function asText({ file, errors, warnings }: Report): string {
  const lines = [
    ...errors.map((fault) => formatManifestFault(file, fault)),
    ...warnings.map((warning) => `${formatManifestFault(file, warning)} (warning)`),
    ...(errors.length === 0 ? [`${file}: valid`] : []),
  ];
  return `${lines.join('\n')}\n`;
}

function asJson({ file, errors, warnings }: Report): string {
  const shown = errors.map(({ type, field, detail, line, column }) => ({ type, field, detail, line, column }));
  return `${harmlessJson(JSON.stringify({ file, valid: errors.length === 0, errors: shown, ...(warnings.length > 0 && { warnings }) }))}\n`;
}
