import { formatResolvConf } from '../../../src/model/resolv-conf.ts';

interface Input {
  readonly servers?: readonly string[];
  readonly searches?: readonly string[];
  readonly options?: readonly string[];
  readonly old: string;
}

export function run({ servers, searches, options, old }: Input): object {
  return { content: formatResolvConf({ servers: servers ?? [], searches: searches ?? [], options: options ?? [] }) ?? old };
}
