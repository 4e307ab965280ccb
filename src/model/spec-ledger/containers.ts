import type {
  CoreV1ResourceClaim,
  V1ConfigMapEnvSource,
  V1ConfigMapKeySelector,
  V1Container,
  V1ContainerPort,
  V1ContainerResizePolicy,
  V1ContainerRestartRule,
  V1ContainerRestartRuleOnExitCodes,
  V1EnvFromSource,
  V1EnvVar,
  V1EnvVarSource,
  V1EphemeralContainer,
  V1FileKeySelector,
  V1ObjectFieldSelector,
  V1ResourceFieldSelector,
  V1ResourceRequirements,
  V1SecretEnvSource,
  V1SecretKeySelector,
  V1VolumeDevice,
  V1VolumeMount,
} from '@kubernetes/client-node';
import { isExtendedResourceName } from '../validation/resources.ts';
import { approximated, honoured, honouredBy, names, refused, section } from './entry.ts';
import { lifecycle, probe } from './probes.ts';
import { securityContext } from './security.ts';

export const objectFieldSelector = section<V1ObjectFieldSelector>('ObjectFieldSelector', { apiVersion: honoured, fieldPath: honoured });
export const resourceFieldSelector = section<V1ResourceFieldSelector>('ResourceFieldSelector', {
  containerName: honoured,
  divisor: honoured,
  resource: honoured,
});

const env = section<V1EnvVar>('EnvVar', {
  name: honoured,
  value: honoured,
  valueFrom: section<V1EnvVarSource>('EnvVarSource', {
    configMapKeyRef: section<V1ConfigMapKeySelector>('ConfigMapKeySelector', { key: honoured, name: honoured, optional: honoured }),
    fieldRef: objectFieldSelector,
    fileKeyRef: section<V1FileKeySelector>('FileKeySelector', { key: honoured, optional: honoured, path: honoured, volumeName: honoured }),
    resourceFieldRef: resourceFieldSelector,
    secretKeyRef: section<V1SecretKeySelector>('SecretKeySelector', { key: honoured, name: honoured, optional: honoured }),
  }),
});

const envFrom = section<V1EnvFromSource>('EnvFromSource', {
  configMapRef: section<V1ConfigMapEnvSource>('ConfigMapEnvSource', { name: honoured, optional: honoured }),
  prefix: honoured,
  secretRef: section<V1SecretEnvSource>('SecretEnvSource', { name: honoured, optional: honoured }),
});

const ports = section<V1ContainerPort>('ContainerPort', {
  containerPort: honoured,
  hostIP: honoured,
  hostPort: honoured,
  name: honoured,
  protocol: honoured,
});

const perContainer: ReadonlySet<string> = new Set(['cpu', 'memory']);

export const resources = section<V1ResourceRequirements>('ResourceRequirements', {
  claims: section<CoreV1ResourceClaim>('ResourceClaim', { name: honoured, request: honoured }),
  limits: approximated(
    'counted where the pod is admitted; no container is held to them; a pod of the API server that exceeds ephemeral-storage is evicted',
    {
      when: names(
        'resources beside cpu, memory and devices of plugins',
        (name) => !perContainer.has(name) && !isExtendedResourceName(name),
      ),
    },
  ),
  requests: honoured,
});

const volumeMounts = section<V1VolumeMount>('VolumeMount', {
  mountPath: honoured,
  mountPropagation: honoured,
  name: honoured,
  readOnly: honoured,
  recursiveReadOnly: honouredBy(
    'engines since 25 on Linux 5.12; on others IfPossible goes without, and a container that says Enabled waits with CreateContainerConfigError',
  ),
  subPath: honoured,
  subPathExpr: honoured,
});

const common = {
  args: honoured,
  command: honoured,
  env,
  envFrom,
  image: honoured,
  imagePullPolicy: honoured,
  name: honoured,
  securityContext,
  stdin: honoured,
  stdinOnce: honoured,
  terminationMessagePath: honoured,
  terminationMessagePolicy: honoured,
  tty: honoured,
  volumeMounts,
  workingDir: honoured,
} as const;

const volumeDevices = section<V1VolumeDevice>('VolumeDevice', {
  devicePath: honoured,
  name: honouredBy('this node where the claim is bound to a volume of a CSI driver; else the pod waits with FailedMount'),
});

/** Of spec.containers and spec.initContainers. */
export const container = section<V1Container>('Container', {
  ...common,
  lifecycle,
  livenessProbe: probe,
  ports,
  readinessProbe: probe,
  resizePolicy: section<V1ContainerResizePolicy>('ContainerResizePolicy', { resourceName: honoured, restartPolicy: honoured }),
  resources,
  restartPolicy: honoured,
  restartPolicyRules: section<V1ContainerRestartRule>('ContainerRestartRule', {
    action: honoured,
    exitCodes: section<V1ContainerRestartRuleOnExitCodes>('ContainerRestartRuleOnExitCodes', { operator: honoured, values: honoured }),
  }),
  startupProbe: probe,
  volumeDevices,
});

const notEphemeral = refused('it cannot be set for an ephemeral container: the API server refuses it');

export const ephemeralContainer = section<V1EphemeralContainer>('EphemeralContainer', {
  ...common,
  lifecycle: notEphemeral,
  livenessProbe: notEphemeral,
  ports: notEphemeral,
  readinessProbe: notEphemeral,
  resizePolicy: notEphemeral,
  resources: notEphemeral,
  restartPolicy: notEphemeral,
  restartPolicyRules: notEphemeral,
  startupProbe: notEphemeral,
  targetContainerName: honoured,
  volumeDevices: notEphemeral,
});
