import type { V1Container, V1EnvVar, V1EphemeralContainer, V1HTTPGetAction, V1LifecycleHandler, V1Probe } from '@kubernetes/client-node';
import { defaultImagePullPolicy } from '../image-name.ts';
import type { Wire } from '../wire.ts';
import type { ResourceList } from '../node.ts';
import { defaultFieldRef, roundUpToMilli } from './default-values.ts';

type Container = Wire<V1Container>;
type EphemeralContainer = Wire<V1EphemeralContainer>;
type Handler = Wire<V1LifecycleHandler>;
type Probe = Wire<V1Probe>;

const defaultHttpGet = (get: Wire<V1HTTPGetAction>): Wire<V1HTTPGetAction> => ({
  ...get,
  path: get.path || '/',
  scheme: get.scheme || 'HTTP',
});

const defaultHandler = (handler: Handler): Handler =>
  handler.httpGet === undefined ? handler : { ...handler, httpGet: defaultHttpGet(handler.httpGet) };

/** In all these a zero is the same as nothing. */
function defaultProbe(probe: Probe): Probe {
  return {
    ...probe,
    ...(probe.httpGet !== undefined && { httpGet: defaultHttpGet(probe.httpGet) }),
    ...(probe.grpc !== undefined && { grpc: { service: '', ...probe.grpc } }),
    timeoutSeconds: probe.timeoutSeconds || 1,
    periodSeconds: probe.periodSeconds || 10,
    successThreshold: probe.successThreshold || 1,
    failureThreshold: probe.failureThreshold || 3,
  };
}

function defaultEnvVar(variable: Wire<V1EnvVar>): Wire<V1EnvVar> {
  const { fieldRef, fileKeyRef } = variable.valueFrom ?? {};
  if (fieldRef === undefined && fileKeyRef === undefined) return variable;
  return {
    ...variable,
    valueFrom: {
      ...variable.valueFrom,
      ...(fieldRef && { fieldRef: defaultFieldRef(fieldRef) }),
      ...(fileKeyRef && { fileKeyRef: { ...fileKeyRef, optional: fileKeyRef.optional ?? false } }),
    },
  };
}

function roundUpResources(resources: NonNullable<Container['resources']>): NonNullable<Container['resources']> {
  const { limits, requests } = resources;
  return {
    ...resources,
    ...(limits !== undefined && { limits: roundUpToMilli(limits) }),
    ...(requests !== undefined && { requests: roundUpToMilli(requests) }),
  };
}

/** What every kind of container gets. */
export function defaultContainer<T extends Container | EphemeralContainer>(container: T): T {
  const { ports, env, resources, livenessProbe, readinessProbe, startupProbe, lifecycle } = container;
  const { postStart, preStop } = lifecycle ?? {};
  return {
    ...container,
    ...(ports !== undefined && { ports: ports.map((port) => ({ ...port, protocol: port.protocol || 'TCP' })) }),
    ...(env !== undefined && { env: env.map(defaultEnvVar) }),
    ...(resources !== undefined && { resources: roundUpResources(resources) }),
    ...(livenessProbe !== undefined && { livenessProbe: defaultProbe(livenessProbe) }),
    ...(readinessProbe !== undefined && { readinessProbe: defaultProbe(readinessProbe) }),
    ...(startupProbe !== undefined && { startupProbe: defaultProbe(startupProbe) }),
    ...(lifecycle !== undefined && {
      lifecycle: {
        ...lifecycle,
        ...(postStart !== undefined && { postStart: defaultHandler(postStart) }),
        ...(preStop !== undefined && { preStop: defaultHandler(preStop) }),
      },
    }),
    terminationMessagePath: container.terminationMessagePath || '/dev/termination-log',
    terminationMessagePolicy: container.terminationMessagePolicy || 'File',
    imagePullPolicy: container.imagePullPolicy || defaultImagePullPolicy(container.image ?? ''),
  };
}

/** A limit without a request is requested. Not so in ephemeral containers. */
function requestLimits(container: Container): Container {
  const limits: ResourceList | undefined = container.resources?.limits;
  if (limits === undefined || Object.keys(limits).length === 0) return container;
  return { ...container, resources: { ...container.resources, requests: { ...limits, ...container.resources?.requests } } };
}

/** On the host's network a container's port is the host's. */
function publishPorts(container: Container): Container {
  if (container.ports === undefined) return container;
  const ports = container.ports.map((port) => (port.hostPort || !port.containerPort ? port : { ...port, hostPort: port.containerPort }));
  return { ...container, ports };
}

/** A container or an init container. */
export function defaultPodContainer(container: Container, hostNetwork: boolean): Container {
  const requested = requestLimits(container);
  return defaultContainer(hostNetwork ? publishPorts(requested) : requested);
}
