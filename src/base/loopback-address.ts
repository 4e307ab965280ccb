import { isIPv4 } from 'node:net';

export interface LoopbackAddress {
  /** As it is listened on: "127.0.0.1", "::1". */
  readonly address: string;
  readonly port: number;
}

/** Of "127.0.0.1:8080", "localhost:8080" or "[::1]:8080"; undefined: it is none, or reaches beyond this machine. */
export function parseLoopbackAddress(text: string): LoopbackAddress | undefined {
  const [, host = '', digits = ''] = /^(.+):(\d{1,5})$/.exec(text) ?? [];
  const port = Number(digits);
  if (!isLoopbackName(host) || port > 65_535) return undefined;
  return { address: host === 'localhost' ? '127.0.0.1' : host.replace(/^\[(.*)\]$/, '$1'), port };
}

/** Whether a host, as it stands in a URL, is this machine whatever a name server says. */
export const isLoopbackName = (host: string): boolean =>
  host === 'localhost' || host === '[::1]' || (isIPv4(host) && host.startsWith('127.'));
