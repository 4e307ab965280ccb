import type { LogQueryOptions } from './log-query.ts';

/** What journalctl is asked with for the logs of services (pkg/kubelet/kubelet_server_journal_linux.go). No value can be taken for an option. */
export function journalArguments(
  services: readonly string[],
  { sinceMs, untilMs, tailLines, boot, pattern }: LogQueryOptions,
): readonly string[] {
  return [
    '--utc',
    '--no-pager',
    '--output=short-precise',
    ...(sinceMs === undefined ? [] : [`--since=${journalTime(sinceMs)}`]),
    ...(untilMs === undefined ? [] : [`--until=${journalTime(untilMs)}`]),
    ...(tailLines === undefined ? [] : ['--pager-end', `--lines=${tailLines}`]),
    ...services.map((service) => `--unit=${service}`),
    ...(pattern === '' ? [] : [`--grep=${pattern}`]),
    ...(boot === undefined ? [] : [`--boot=${boot}`]),
  ];
}

/** "2026-01-02 03:04:05 UTC": without its zone, it would be taken for the node's own. */
const journalTime = (atMs: number): string => new Date(atMs).toISOString().replace(/^(.*)T(.*)\.\d+Z$/, '$1 $2 UTC');
