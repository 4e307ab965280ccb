import { splitFields, trimSpace } from './go-text.ts';

/** What a resolver is given. */
export interface DnsConfig {
  readonly servers: readonly string[];
  readonly searches: readonly string[];
  /** "ndots:5", "rotate" */
  readonly options: readonly string[];
}

/** A file of this many bytes is refused (pkg/kubelet/network/dns maxResolveConfLength). */
const MAX_BYTES = 10 * 1024 * 1024;

/** Name servers add up; of search and options lines the last one counts. Throws in the kubelet's words (pkg/kubelet/network/dns parseResolvConf). */
export function parseResolvConf(text: string): DnsConfig {
  if (Buffer.byteLength(text) >= MAX_BYTES) throw new Error('the read limit is reached');
  const servers: string[] = [];
  let searches: readonly string[] = [];
  let options: readonly string[] = [];
  let serverless = false;
  for (const line of text.split('\n').map(trimSpace)) {
    if (line.startsWith('#')) continue;
    const [keyword, ...values] = splitFields(line);
    if (keyword === 'nameserver') {
      if (values[0] === undefined) serverless = true;
      else servers.push(values[0]);
    }
    if (keyword === 'search') searches = values.map((domain) => (domain.endsWith('.') ? domain.slice(0, -1) : domain));
    if (keyword === 'options') options = values;
  }
  if (serverless) throw new Error('nameserver list is empty ');
  return { servers, searches, options };
}

/** The file; undefined where there is nothing to say (pkg/kubelet/dockershim rewriteResolvFile). */
export function formatResolvConf({ servers, searches, options }: DnsConfig): string | undefined {
  const lines = [
    ...servers.map((server) => `nameserver ${server}`),
    ...(searches.length > 0 ? [`search ${searches.join(' ')}`] : []),
    ...(options.length > 0 ? [`options ${options.join(' ')}`] : []),
  ];
  return lines.length > 0 ? `${lines.join('\n')}\n` : undefined;
}
