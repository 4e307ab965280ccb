// The JSON that Go makes of a v1.Container: the field order and the omissions of k8s.io/api/core/v1/types.go, 1.20, with later fields
// where they were put in later.
import type { Container } from './pod.ts';
import { always, type Fields, flag, integer, intOrString, list, map, optionalStruct, pointer, quantity, struct, text } from './go-json.ts';

const requiredText = always(text, '""');
const requiredInteger = always(integer, '0');
const texts = list(requiredText);
const named: Fields = { name: text };

const handler: Fields = {
  exec: optionalStruct({ command: texts }),
  httpGet: optionalStruct({
    path: text,
    port: intOrString,
    host: text,
    scheme: text,
    httpHeaders: list(struct({ name: requiredText, value: requiredText })),
  }),
  tcpSocket: optionalStruct({ port: intOrString, host: text }),
};
const lifecycleHandlerFields: Fields = { ...handler, sleep: optionalStruct({ seconds: requiredInteger }) };
const lifecycleHandler = optionalStruct(lifecycleHandlerFields);
/** A hook by itself. */
export const lifecycleHandlerJson = struct(lifecycleHandlerFields);
/** A container's ports by themselves. */
export const containerPortsJson = list(
  struct({ name: text, hostPort: integer, containerPort: requiredInteger, protocol: text, hostIP: text }),
);
const probe = optionalStruct({
  ...handler,
  grpc: optionalStruct({ port: requiredInteger, service: always(pointer, 'null') }),
  initialDelaySeconds: integer,
  timeoutSeconds: integer,
  periodSeconds: integer,
  successThreshold: integer,
  failureThreshold: integer,
  terminationGracePeriodSeconds: pointer,
});
const keySelector = optionalStruct({ ...named, key: requiredText, optional: pointer });
const source = optionalStruct({ ...named, optional: pointer });
const profile = optionalStruct({ type: requiredText, localhostProfile: pointer });

const encode = struct({
  name: requiredText,
  image: text,
  command: texts,
  args: texts,
  workingDir: text,
  ports: containerPortsJson,
  envFrom: list(struct({ prefix: text, configMapRef: source, secretRef: source })),
  env: list(
    struct({
      name: requiredText,
      value: text,
      valueFrom: optionalStruct({
        fieldRef: optionalStruct({ apiVersion: text, fieldPath: requiredText }),
        resourceFieldRef: optionalStruct({ containerName: text, resource: requiredText, divisor: quantity }),
        configMapKeyRef: keySelector,
        secretKeyRef: keySelector,
        fileKeyRef: optionalStruct({ volumeName: requiredText, path: requiredText, key: requiredText, optional: pointer }),
      }),
    }),
  ),
  resources: struct({
    limits: map(quantity),
    requests: map(quantity),
    claims: list(struct({ name: requiredText, request: text })),
  }),
  resizePolicy: list(struct({ resourceName: requiredText, restartPolicy: requiredText })),
  restartPolicy: pointer,
  volumeMounts: list(
    struct({
      name: requiredText,
      readOnly: flag,
      recursiveReadOnly: pointer,
      mountPath: requiredText,
      subPath: text,
      mountPropagation: pointer,
      subPathExpr: text,
    }),
  ),
  volumeDevices: list(struct({ name: requiredText, devicePath: requiredText })),
  livenessProbe: probe,
  readinessProbe: probe,
  startupProbe: probe,
  lifecycle: optionalStruct({ postStart: lifecycleHandler, preStop: lifecycleHandler, stopSignal: pointer }),
  terminationMessagePath: text,
  terminationMessagePolicy: text,
  imagePullPolicy: text,
  securityContext: optionalStruct({
    capabilities: optionalStruct({ add: texts, drop: texts }),
    privileged: pointer,
    seLinuxOptions: optionalStruct({ user: text, role: text, type: text, level: text }),
    windowsOptions: optionalStruct({
      gmsaCredentialSpecName: pointer,
      gmsaCredentialSpec: pointer,
      runAsUserName: pointer,
      hostProcess: pointer,
    }),
    runAsUser: pointer,
    runAsGroup: pointer,
    runAsNonRoot: pointer,
    readOnlyRootFilesystem: pointer,
    allowPrivilegeEscalation: pointer,
    procMount: pointer,
    seccompProfile: profile,
    appArmorProfile: profile,
  }),
  stdin: flag,
  stdinOnce: flag,
  tty: flag,
});

/** Throws QuantityParseError when a resource is no quantity. */
export function containerJson(container: Container): string {
  return encode(container) ?? '{}';
}
