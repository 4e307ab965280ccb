import { always, integer, intOrString, list, optionalStruct, struct, text } from '../model/go-json.ts';

const requiredText = always(text, '""');

const encodePorts = list(struct({ name: text, hostPort: integer, containerPort: always(integer, '0'), protocol: text, hostIP: text }));
const encodePreStop = struct({
  exec: optionalStruct({ command: list(requiredText) }),
  httpGet: optionalStruct({
    path: text,
    port: intOrString,
    host: text,
    scheme: text,
    httpHeaders: list(struct({ name: requiredText, value: requiredText })),
  }),
  tcpSocket: optionalStruct({ port: intOrString, host: text }),
  sleep: optionalStruct({ seconds: always(integer, '0') }),
});

/** The ports in the words of Go's encoder: label values compare as text. */
export function portsLabelValue(ports: readonly object[]): string {
  return encodePorts(ports) ?? '[]';
}

export function preStopLabelValue(handler: object): string {
  return encodePreStop(handler) ?? '{}';
}
