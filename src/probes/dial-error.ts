import { errorText } from '../base/error-text.ts';
import { joinHostPort } from './go-url.ts';

/** What the kubelet's users know from their events: the words of Go for what the system says. */
const connectWords: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'connect: connection refused',
  ECONNRESET: 'connect: connection reset by peer',
  EHOSTUNREACH: 'connect: no route to host',
  ENETUNREACH: 'connect: network is unreachable',
  EHOSTDOWN: 'connect: host is down',
  ETIMEDOUT: 'connect: connection timed out',
  EADDRNOTAVAIL: 'connect: cannot assign requested address',
  EACCES: 'connect: permission denied',
  EPERM: 'connect: operation not permitted',
};
const lookupWords: Readonly<Record<string, string>> = { ENOTFOUND: 'no such host', EAI_AGAIN: 'server misbehaving' };

/** Why a connection did not come about: "dial tcp 10.0.0.1:80: connect: connection refused". Undefined when the error is about something else. */
export function dialErrorText(error: unknown, host: string, port: number): string | undefined {
  // Several addresses were tried: the first speaks for all.
  const first: unknown = error instanceof AggregateError ? error.errors[0] : error;
  const code = fieldOf(first, 'code');
  const call = fieldOf(first, 'syscall');
  if (call === 'getaddrinfo') return `dial tcp: lookup ${host}: ${lookupWords[code] ?? errorText(first)}`;
  if (call !== 'connect') return undefined;
  return `dial tcp ${joinHostPort(fieldOf(first, 'address') || host, port)}: ${connectWords[code] ?? errorText(first)}`;
}

/** No answer to the connection in time. */
export function dialTimeoutText(host: string, port: number): string {
  return `dial tcp ${joinHostPort(host, port)}: i/o timeout`;
}

/** A text field of an error of Node's. */
export function fieldOf(error: unknown, name: string): string {
  const value: unknown = typeof error === 'object' && error !== null ? Reflect.get(error, name) : undefined;
  return typeof value === 'string' ? value : '';
}
