import { containerPortsJson, lifecycleHandlerJson } from '../../../model/container-json.ts';
import type { Encoder } from '../../../model/go-json.ts';
import type { Container } from '../../../model/pod.ts';

/** The ports in the words of Go's encoder: label values compare as text. */
export function portsLabelValue(ports: readonly object[]): string {
  return containerPortsJson(ports) ?? '[]';
}

export function preStopLabelValue(handler: object): string {
  return lifecycleHandlerJson(handler) ?? '{}';
}

export type Ports = NonNullable<Container['ports']>;
export type Handler = NonNullable<NonNullable<Container['lifecycle']>['preStop']>;

type Fits = (value: unknown) => boolean;

const isNothing: Fits = (value) => value === null || value === undefined;
const isText: Fits = (value) => isNothing(value) || typeof value === 'string';
const isInteger: Fits = (value) => isNothing(value) || (Number.isInteger(value) && Number(value) === (Number(value) | 0));
const isIntOrString: Fits = (value) => isText(value) || isInteger(value);
const isList =
  (of: Fits): Fits =>
  (value) =>
    isNothing(value) || (Array.isArray(value) && value.every(of));
const isStruct = (fields: Readonly<Record<string, Fits>>): Fits => {
  const fits = new Map(Object.entries(fields));
  return (value) =>
    isNothing(value) ||
    (typeof value === 'object' &&
      !Array.isArray(value) &&
      Object.entries(value ?? {}).every(([key, field]) => fits.get(key)?.(field) ?? true));
};

const isPorts = isList(isStruct({ name: isText, hostPort: isInteger, containerPort: isInteger, protocol: isText, hostIP: isText }));
const isPreStop = isStruct({
  exec: isStruct({ command: isList(isText) }),
  httpGet: isStruct({
    path: isText,
    port: isIntOrString,
    host: isText,
    scheme: isText,
    httpHeaders: isList(isStruct({ name: isText, value: isText })),
  }),
  tcpSocket: isStruct({ port: isIntOrString, host: isText }),
  sleep: isStruct({ seconds: isInteger }),
});

/** What a label says as Go decodes it, unknown fields dropped; undefined for what does not fit. Anyone may have written it. */
export function readPortsLabel(value: string): Ports | undefined {
  return decoded(value, isPorts, containerPortsJson) as Ports | undefined;
}

/** As above. */
export function readPreStopLabel(value: string): Handler | undefined {
  return decoded(value, isPreStop, lifecycleHandlerJson) as Handler | undefined;
}

/** What fits is written again, which is where Go's zero values come from. */
function decoded(value: string, fits: Fits, encode: Encoder): unknown {
  try {
    const parsed: unknown = JSON.parse(value);
    const written = fits(parsed) ? encode(parsed) : undefined;
    return written === undefined ? undefined : JSON.parse(written);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
