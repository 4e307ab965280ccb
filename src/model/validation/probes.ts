import type { V1HTTPGetAction, V1Lifecycle, V1LifecycleHandler, V1Probe } from '@kubernetes/client-node';
import type { Given } from './given.ts';
import { isEmpty, validateNonNegative } from './checks.ts';
import type { FieldErrors } from './field-error.ts';
import { isHttpHeaderName, isPortName, isPortNumber } from './formats.ts';

type Handler = Given<V1LifecycleHandler> & Pick<Given<V1Probe>, 'grpc'>;

function validatePort(port: number | string | undefined, at: string, errors: FieldErrors): void {
  errors.invalidEach(at, port ?? 0, typeof port === 'string' ? isPortName(port) : isPortNumber(port ?? 0));
}

function validateHttpGet(get: Given<V1HTTPGetAction>, at: string, errors: FieldErrors): void {
  const { scheme = '' } = get;
  if (isEmpty(get.path)) errors.required(`${at}.path`);
  validatePort(get.port, `${at}.port`, errors);
  if (scheme !== 'HTTP' && scheme !== 'HTTPS') errors.notSupported(`${at}.scheme`, scheme, ['HTTP', 'HTTPS']);
  for (const { name = '' } of get.httpHeaders ?? []) errors.invalidEach(`${at}.httpHeaders`, name, isHttpHeaderName(name));
}

function validateSleep(seconds: number, at: string, errors: FieldErrors, graceSeconds: number): void {
  if (seconds >= 0 && seconds <= graceSeconds) return;
  errors.invalid(at, seconds, `must be non-negative and less than terminationGracePeriodSeconds (${graceSeconds})`);
}

/** Exactly one action; of several only the first is looked into. */
function validateHandler(handler: Handler, at: string, errors: FieldErrors, graceSeconds: number): void {
  let found = 0;
  const first = <T>(name: keyof Handler, action: T | undefined, check: (action: T, at: string) => void): void => {
    if (action === undefined) return;
    if (found++ === 0) check(action, `${at}.${name}`);
    else errors.forbidden(`${at}.${name}`, 'may not specify more than 1 handler type');
  };
  first('exec', handler.exec, ({ command }, here) => {
    if (isEmpty(command)) errors.required(`${here}.command`);
  });
  first('httpGet', handler.httpGet, (get, here) => validateHttpGet(get, here, errors));
  first('tcpSocket', handler.tcpSocket, ({ port }, here) => validatePort(port, `${here}.port`, errors));
  first('grpc', handler.grpc, ({ port }, here) => validatePort(port, `${here}.port`, errors));
  first('sleep', handler.sleep, ({ seconds }, here) => validateSleep(seconds ?? 0, here, errors, graceSeconds));
  if (found === 0) errors.required(at, 'must specify a handler type');
}

export function validateLifecycle({ postStart, preStop }: Given<V1Lifecycle>, at: string, errors: FieldErrors, graceSeconds: number): void {
  if (postStart) validateHandler(postStart, `${at}.postStart`, errors, graceSeconds);
  if (preStop) validateHandler(preStop, `${at}.preStop`, errors, graceSeconds);
}

const counts = ['initialDelaySeconds', 'timeoutSeconds', 'periodSeconds', 'successThreshold', 'failureThreshold'] as const;

export function validateProbe(
  kind: 'livenessProbe' | 'readinessProbe' | 'startupProbe',
  probe: Given<V1Probe> | undefined,
  at: string,
  errors: FieldErrors,
): void {
  if (probe === undefined) return;
  const here = `${at}.${kind}`;
  validateHandler(probe, here, errors, 0);
  for (const name of counts) validateNonNegative(probe[name], `${here}.${name}`, errors);
  const grace = probe.terminationGracePeriodSeconds;
  if (grace !== undefined && grace <= 0) errors.invalid(`${here}.terminationGracePeriodSeconds`, grace, 'must be greater than 0');
  if (kind === 'readinessProbe') {
    // Kubernetes 1.22 and later: such a probe ends nothing.
    if (grace !== undefined) errors.invalid(`${here}.terminationGracePeriodSeconds`, grace, 'must not be set for readinessProbes');
    return;
  }
  const successes = probe.successThreshold ?? 0;
  if (successes !== 1) errors.invalid(`${here}.successThreshold`, successes, 'must be 1');
}
