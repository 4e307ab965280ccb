import type { Clock } from '../base/clock.ts';
import { type GoUrl } from './go-url.ts';
import { httpGet, HttpGetError } from './http-get.ts';
import type { ProbeOutcome } from './probe-outcome.ts';
import type { ProbeHeaders } from './probe-request.ts';

export interface HttpProbeOptions {
  readonly clock: Pick<Clock, 'monotonicMs' | 'schedule'>;
  readonly timeoutMs: number;
  /** "kube-probe/1.36" */
  readonly userAgent: string;
}

/** 200 to 399 is success; a redirect to another host is not followed and a warning (pkg/probe/http). Rejects when an answer breaks off. */
export async function httpProbe(url: GoUrl, headers: ProbeHeaders, options: HttpProbeOptions, signal: AbortSignal): Promise<ProbeOutcome> {
  try {
    const { clock, timeoutMs, userAgent } = options;
    const { status, body } = await httpGet(url, withDefaults(headers, userAgent), { clock, timeoutMs, follow: 'same host' }, signal);
    if (status < 200 || status >= 400) return { result: 'failure', output: `HTTP probe failed with statuscode: ${status}` };
    if (status >= 300) return { result: 'warning', output: `Probe terminated redirects, Response body: ${body}` };
    return { result: 'success', output: body };
  } catch (error) {
    if (!(error instanceof HttpGetError) || error.inBody) throw error;
    return { result: 'failure', output: error.message };
  }
}

/** An Accept header that begins empty stands for none. */
export function withDefaults(headers: ProbeHeaders, userAgent: string): ProbeHeaders {
  const all = new Map([['Accept', ['*/*']] as const, ['User-Agent', [userAgent]] as const, ...headers]);
  if (all.get('Accept')?.[0] === '') all.delete('Accept');
  return all;
}
