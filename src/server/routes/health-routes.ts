import type { ServerResponse } from 'node:http';
import type { HealthCheck } from '../../ports/node-participant.ts';
import type { Happenings } from '../../ports/happenings.ts';
import { HttpError, type Route, type RouteRequest } from '../../ports/route.ts';
import { sendText } from '../../ports/answer.ts';

export interface HealthRouteDeps {
  readonly health: () => readonly HealthCheck[];
  readonly tell: Pick<Happenings, 'healthChecked'>;
}

/**
 * /healthz and one path for each check (k8s.io/apiserver/pkg/server/healthz). "ping" and "log" always hold: who answers is there, and
 * log lines are written before the call that prints them returns. `health` adds the rest: "syncloop", as the kubelet names it.
 */
export function healthRoutes({ health, tell }: HealthRouteDeps): readonly Route[] {
  const checks = (): readonly HealthCheck[] => [{ name: 'ping' }, { name: 'log' }, ...health()];
  return [
    {
      methods: ['GET'],
      path: '/healthz',
      readOnly: true,
      handle: async ({ query }, response) => answerAll(checks(), query, response, tell),
    },
    {
      methods: ['GET'],
      path: '/healthz/{check}',
      readOnly: true,
      handle: async ({ params }: RouteRequest, response) => {
        const check = checks().find(({ name }) => name === params['check']);
        if (!check) throw new HttpError(404, '404 page not found\n');
        tellOf(check, tell);
        if (check.error !== undefined) throw new HttpError(500, `internal server error: ${check.error}\n`);
        sendText(response, withNote('ok', check));
      },
    },
  ];
}

const tellOf = ({ name, error }: HealthCheck, tell: HealthRouteDeps['tell']): void =>
  tell.healthChecked({ check: name, failed: error !== undefined });

const withNote = (text: string, { note }: HealthCheck): string => (note === undefined ? text : `${text}: ${note}`);

/** Why something fails is not said here: this path may be open to more people than the check's own. */
function answerAll(checks: readonly HealthCheck[], query: URLSearchParams, response: ServerResponse, tell: HealthRouteDeps['tell']): void {
  const excluded = new Set(query.getAll('exclude'));
  const lines = checks.map((check) => {
    const { name, error } = check;
    if (excluded.delete(name)) return `[+]${name} excluded: ok\n`;
    tellOf(check, tell);
    return error === undefined ? `${withNote(`[+]${name} ok`, check)}\n` : `[-]${name} failed: reason withheld\n`;
  });
  if (excluded.size > 0) {
    const names = [...excluded].toSorted().map((name) => JSON.stringify(name));
    lines.push(`warn: some health checks cannot be excluded: no matches for ${names.join(',')}\n`);
  }
  const report = lines.join('');
  if (report.includes('[-]')) throw new HttpError(500, `${report}healthz check failed\n`);
  sendText(response, query.has('verbose') ? `${report}healthz check passed\n` : 'ok');
}
