import { parseLogPolicy } from '../../../src/model/log-policy.ts';
import { logsInOrder, logsOf, planLogRotation } from '../../../src/model/log-rotation.ts';

type In =
  | {
      readonly op: 'rotate';
      readonly maxSize: string;
      readonly maxFiles: number;
      readonly now: string;
      readonly files: Readonly<Record<string, number>>;
      readonly reopenFails?: boolean;
    }
  | { readonly op: 'config'; readonly maxSize: string; readonly maxFiles: number }
  | { readonly op: 'all' | 'clean'; readonly files: readonly string[] };

const LOG = '0.log';

export function run(input: In): unknown {
  switch (input.op) {
    case 'rotate':
      return rotate(input);
    case 'config':
      return config(input.maxSize, input.maxFiles);
    case 'all':
      return logsInOrder(LOG, input.files);
    case 'clean': {
      const gone = logsOf(LOG, input.files);
      return { files: input.files.filter((file) => !gone.includes(file)) };
    }
    default:
      return input satisfies never;
  }
}

function rotate({ maxSize, maxFiles, now, files, reopenFails }: Extract<In, { readonly op: 'rotate' }>): unknown {
  /** Where each file came from. */
  const here = new Map(Object.keys(files).map((name) => [name, name]));
  const rename = (from: string, to: string): void => {
    here.set(to, here.get(from) ?? from);
    here.delete(from);
  };
  let reopened = 0;
  const reopen = (): boolean => {
    reopened++;
    if (!reopenFails) here.set(LOG, LOG);
    return !reopenFails;
  };
  const size = files[LOG];
  if (size === undefined) reopen();
  else if (size >= (parseLogPolicy(maxSize, maxFiles)?.maxSizeBytes ?? Number.POSITIVE_INFINITY)) {
    const { remove, compress, renameTo } = planLogRotation(LOG, [...here.keys()], maxFiles, Date.parse(now));
    for (const name of remove) here.delete(name);
    for (const name of compress) rename(name, `${name}.gz`);
    rename(LOG, renameTo);
    if (!reopen()) rename(renameTo, LOG);
  }
  const contents = Object.fromEntries([...here].filter(([name, from]) => name !== from));
  return { files: [...here.keys()].toSorted(), contents, reopened };
}

function config(maxSize: string, maxFiles: number): unknown {
  try {
    const policy = parseLogPolicy(maxSize, maxFiles);
    return policy ? { maxSizeBytes: policy.maxSizeBytes } : { disabled: true };
  } catch (error) {
    return { error: (error as Error).message };
  }
}
