import { posix } from 'node:path';
import { formatGoDuration } from '../model/go-duration.ts';

/** What is wrong with one value, a sentence each; `name` is "field (--flag)". */
export type Rule<T> = (value: T, name: string) => string | readonly string[] | undefined;

/** As Go prints a duration. */
export const showDuration = (ms: number): string => formatGoDuration(BigInt(Math.round(ms * 1_000_000)));

export const between =
  (least: number, most: number): Rule<number> =>
  (value, name) =>
    value < least || value > most ? `${name} ${value} must be between ${least} and ${most}, inclusive` : undefined;

export const notNegativeNumber: Rule<number> = (value, name) => (value < 0 ? `${name} ${value} must not be a negative number` : undefined);

export const notNegativeDuration: Rule<number> = (ms, name) => (ms < 0 ? `${name} ${showDuration(ms)} must not be negative` : undefined);

export const atLeast =
  (least: number, words: string): Rule<number> =>
  (value, name) =>
    value < least ? `${name} must be ${words}` : undefined;

const unknownWord = (value: string, words: readonly string[], name: string): string => {
  const quoted = words.map((word) => JSON.stringify(word));
  return `option ${JSON.stringify(value)} specified for ${name}. Valid options are ${quoted.slice(0, -1).join(', ')} or ${quoted.at(-1)}`;
};

/** An empty text is the default. */
export const oneOfWords =
  (...words: readonly string[]): Rule<string> =>
  (value, name) =>
    value === '' || words.includes(value) ? undefined : unknownWord(value, words, name);

export const swapBehavior: Rule<string> = (value, name) =>
  ['', 'LimitedSwap', 'NoSwap'].includes(value) ? undefined : `${name} "${value}" must be one of: "", "LimitedSwap" or "NoSwap"`;

export const topologyPolicy: Rule<string> = (value, name) => {
  const policies = ['none', 'best-effort', 'restricted', 'single-numa-node'];
  if (value === '' || policies.includes(value)) return undefined;
  return `${name} "${value}" must be one of: [${policies.map((policy) => JSON.stringify(policy)).join(' ')}]`;
};

export const topologyScope: Rule<string> = (value, name) =>
  ['', 'container', 'pod'].includes(value) ? undefined : `${name} "${value}" must be one of: "container", or "pod"`;

export const throttlingFactor: Rule<number> = (value, name) =>
  value <= 0 || value > 1 ? `${name} ${value} must be greater than 0 and less than or equal to 1.0` : undefined;

export const logMonitorInterval: Rule<number> = (ms, name) =>
  ms < 3_000 ? `${name} must be a positive time duration greater than or equal to 3s` : undefined;

export const maxRestartPeriod: Rule<number> = (ms) =>
  ms < 1_000 || ms > 300_000
    ? `CrashLoopBackOff.MaxContainerRestartPeriod (got: ${ms / 1_000} seconds) must be set between 1s and 300s`
    : undefined;

export const shutdownPeriod: Rule<number> = (ms, name) =>
  ms !== 0 && ms < 1_000 ? `${name} {${showDuration(ms)}} must be either zero or otherwise >= 1 sec` : undefined;

export const logsDirectory: Rule<string> = (path) => {
  if (path === '') return undefined;
  const cleaned = posix.normalize(path);
  if (cleaned !== path || (path.length > 1 && path.endsWith('/'))) return `pod logs path "${path}" must be normalized`;
  return Buffer.byteLength(path) === path.length ? undefined : `pod logs path "${path}" must contain ASCII characters only`;
};

const enforcements = ['pods', 'system-reserved', 'system-reserved-compressible', 'kube-reserved', 'kube-reserved-compressible', 'none'];

export const nodeAllocatable: Rule<readonly string[]> = (values, name) => {
  const repeated = values.filter((value, at) => values.indexOf(value) !== at);
  const has = (...wanted: readonly string[]): boolean => wanted.every((each) => values.includes(each));
  const pair = (of: string): string => `both "${of}" and "${of}-compressible" cannot be specified together in ${name}`;
  return [
    ...repeated.map((value) => `duplicated enforcements ${JSON.stringify(value)} in ${name}`),
    ...(has('none') && values.length > 1 ? [`${name} may not contain additional enforcements when "none" is specified`] : []),
    ...['system-reserved', 'kube-reserved'].filter((of) => has(of, `${of}-compressible`)).map(pair),
    ...values.filter((value) => !enforcements.includes(value)).map((value) => unknownWord(value, enforcements, name)),
  ];
};

/** cpuset.Parse, as strictly; how many processors there are is not asked. */
export const processors: Rule<string> = (text, name) => {
  const bad = text === '' ? undefined : text.split(/[,-]/).find((number) => !/^\d+$/.test(number));
  return bad === undefined
    ? undefined
    : `unable to parse ${name} ${text}, error: strconv.Atoi: parsing ${JSON.stringify(bad)}: invalid syntax`;
};

export const reservedPerNode: Rule<readonly { readonly numaNode?: number; readonly limits?: Readonly<Record<string, string>> }[]> = (
  nodes,
) =>
  nodes
    .flatMap(({ numaNode = 0, limits }) =>
      Object.entries(limits ?? {}).map(([resource, amount]) => {
        if (resource !== 'memory' && !resource.startsWith('hugepages-'))
          return `the limit type "${resource}" for NUMA node ${numaNode} is not supported, only [memory hugepages-<HugePageSize>] is accepted`;
        return amount === '0' ? `reserved memory may not be zero for NUMA node ${numaNode} and resource "${resource}"` : '';
      }),
    )
    .filter((fault) => fault !== '');
