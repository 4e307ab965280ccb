import type { RequestLabels } from '../ports/happenings.ts';

const methods: ReadonlySet<string> = new Set(['OPTIONS', 'GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'TRACE', 'CONNECT']);

/** pkg/kubelet/server addMetricsBucketMatcher */
const buckets: ReadonlySet<string> = new Set([
  'healthz',
  'pods',
  'stats',
  'metrics',
  'metrics/cadvisor',
  'metrics/probes',
  'metrics/resource',
  'metrics/slis',
  'spec',
  'run',
  'exec',
  'attach',
  'portForward',
  'containerLogs',
  'configz',
  'debug',
  'runningpods',
  'logs',
  'checkpoint',
  'statusz',
  'flagz',
]);
/** As the kubelet has them: it spells portForward another way here, so it never counts. */
const longRunning: ReadonlySet<string> = new Set(['exec', 'attach', 'portforward', 'debug']);

/** How a request is counted. `url` is the request line's target. */
export function requestLabels(method: string, url: string, serverType: RequestLabels['serverType']): RequestLabels {
  const [first = '', second] = url
    .replace(/[?#].*/s, '')
    .replace(/^\//, '')
    .split('/', 2);
  const root = first === 'metrics' && second !== undefined ? `${first}/${second}` : first;
  const path = buckets.has(root) ? root : 'other';
  return { method: methods.has(method) ? method : 'other', path, serverType, longRunning: longRunning.has(path) };
}
