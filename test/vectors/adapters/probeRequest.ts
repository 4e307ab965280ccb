import type { Container } from '../../../src/model/pod.ts';
import { probeHeaders, probePort, probeUrlText } from '../../../src/probes/probe-request.ts';

type In =
  | { readonly op: 'url'; readonly scheme: string; readonly host: string; readonly port: number; readonly path: string }
  | { readonly op: 'port'; readonly port: number | string; readonly ports?: Container['ports'] }
  | { readonly op: 'headers'; readonly headers?: readonly { readonly name: string; readonly value?: string }[] };

export const run = (input: In): unknown => {
  if (input.op === 'url') return probeUrlText(input.scheme, input.host, input.port, input.path);
  if (input.op === 'headers') return Object.fromEntries(probeHeaders(input.headers));
  try {
    return { port: probePort(input.port, { ports: input.ports ?? [] }) };
  } catch (error) {
    return { error: error instanceof Error ? error.message : error };
  }
};
