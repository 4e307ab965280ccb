import type { Container, Pod } from '../../../model/pod.ts';
import {
  CONTAINER_NAME_LABEL,
  type LabelsAndAnnotations,
  POD_NAME_LABEL,
  POD_NAMESPACE_LABEL,
  POD_UID_LABEL,
  type StringMap,
} from './pod-labels.ts';
import { type Handler, type Ports, portsLabelValue, preStopLabelValue, readPortsLabel, readPreStopLabel } from './go-label-json.ts';
import { isSet } from '../containers/security-context.ts';

// Names and contents of what a kubelet notes down on its containers (pkg/kubelet/kuberuntime/labels.go).
export const HASH_ANNOTATION = 'io.kubernetes.container.hash';
const RESTART_COUNT_ANNOTATION = 'io.kubernetes.container.restartCount';
const TERMINATION_MESSAGE_PATH_ANNOTATION = 'io.kubernetes.container.terminationMessagePath';
const TERMINATION_MESSAGE_POLICY_ANNOTATION = 'io.kubernetes.container.terminationMessagePolicy';
const PRE_STOP_ANNOTATION = 'io.kubernetes.container.preStopHandler';
const PORTS_ANNOTATION = 'io.kubernetes.container.ports';
const DELETION_GRACE_PERIOD_ANNOTATION = 'io.kubernetes.pod.deletionGracePeriod';
const TERMINATION_GRACE_PERIOD_ANNOTATION = 'io.kubernetes.pod.terminationGracePeriod';

/** Of a pod: its own labels and annotations, and who it is. */
export function podLabels({ metadata }: Pick<Pod, 'metadata'>): LabelsAndAnnotations {
  return { labels: { ...metadata.labels, ...identity(metadata) }, annotations: metadata.annotations ?? {} };
}

/** Of one container. `hash`: see model/container-hash. `extraAnnotations` are those of device plugins; the kubelet's own win. */
export function containerLabels(
  pod: Pick<Pod, 'metadata' | 'spec'>,
  container: Container,
  { attempt, hash }: { readonly attempt: number; readonly hash: string },
  extraAnnotations: StringMap = {},
): LabelsAndAnnotations {
  const annotations: Record<string, string> = {
    ...extraAnnotations,
    [HASH_ANNOTATION]: hash,
    [RESTART_COUNT_ANNOTATION]: String(attempt),
    [TERMINATION_MESSAGE_PATH_ANNOTATION]: container.terminationMessagePath ?? '',
    [TERMINATION_MESSAGE_POLICY_ANNOTATION]: container.terminationMessagePolicy ?? '',
  };
  const { deletionGracePeriodSeconds } = pod.metadata;
  const { terminationGracePeriodSeconds } = pod.spec;
  const preStop = container.lifecycle?.preStop;
  if (isSet(deletionGracePeriodSeconds)) annotations[DELETION_GRACE_PERIOD_ANNOTATION] = int64(deletionGracePeriodSeconds);
  if (isSet(terminationGracePeriodSeconds)) annotations[TERMINATION_GRACE_PERIOD_ANNOTATION] = int64(terminationGracePeriodSeconds);
  if (isSet(preStop)) annotations[PRE_STOP_ANNOTATION] = preStopLabelValue(preStop);
  if (container.ports?.length) annotations[PORTS_ANNOTATION] = portsLabelValue(container.ports);
  return { labels: { ...identity(pod.metadata), [CONTAINER_NAME_LABEL]: container.name }, annotations };
}

/** What a container's labels and annotations say about it. */
export interface ContainerNote {
  readonly podName: string;
  readonly podNamespace: string;
  readonly podUid: string;
  readonly containerName: string;
  /** Hexadecimal; "0" when there is none. */
  readonly hash: string;
  readonly restartCount: number;
  readonly deletionGracePeriodSeconds: number | undefined;
  readonly terminationGracePeriodSeconds: number | undefined;
  readonly terminationMessagePath: string;
  readonly terminationMessagePolicy: string;
  readonly preStop: Handler | undefined;
  readonly ports: Ports | undefined;
}

/** Reads what `containerLabels` wrote. What is missing or broken reads as its zero value, as in a kubelet. */
export function readContainerLabels({ labels, annotations }: LabelsAndAnnotations): ContainerNote {
  return {
    podName: labels[POD_NAME_LABEL] ?? '',
    podNamespace: labels[POD_NAMESPACE_LABEL] ?? '',
    podUid: labels[POD_UID_LABEL] ?? '',
    containerName: labels[CONTAINER_NAME_LABEL] ?? '',
    hash: hexadecimal(annotations[HASH_ANNOTATION]),
    restartCount: integer(annotations[RESTART_COUNT_ANNOTATION]) ?? 0,
    deletionGracePeriodSeconds: integer(annotations[DELETION_GRACE_PERIOD_ANNOTATION]),
    terminationGracePeriodSeconds: integer(annotations[TERMINATION_GRACE_PERIOD_ANNOTATION]),
    terminationMessagePath: annotations[TERMINATION_MESSAGE_PATH_ANNOTATION] ?? '',
    terminationMessagePolicy: annotations[TERMINATION_MESSAGE_POLICY_ANNOTATION] ?? '',
    preStop: readPreStopLabel(annotations[PRE_STOP_ANNOTATION] ?? ''),
    ports: readPortsLabel(annotations[PORTS_ANNOTATION] ?? ''),
  };
}

function identity({ name, namespace, uid }: Pod['metadata']): Record<string, string> {
  return { [POD_NAME_LABEL]: name, [POD_NAMESPACE_LABEL]: namespace, [POD_UID_LABEL]: uid };
}

/** Reads back as an int64: the greatest number of seconds, as JavaScript has it, is one more than fits. */
function int64(seconds: number): string {
  const value = BigInt(seconds);
  return String(BigInt.asIntN(64, value) === value ? value : 2n ** 63n - 1n);
}

/** strconv.ParseInt of base 10 within 64 bits. */
function integer(text: string | undefined): number | undefined {
  if (text === undefined || !/^[+-]?[0-9]+$/.test(text)) return undefined;
  const value = BigInt(text.replace(/^\+/, ''));
  return BigInt.asIntN(64, value) === value ? Number(value) : undefined;
}

/** strconv.ParseUint of base 16 within 64 bits, printed again. */
function hexadecimal(text: string | undefined): string {
  if (text === undefined || !/^[0-9a-fA-F]+$/.test(text)) return '0';
  const value = BigInt(`0x${text}`);
  return BigInt.asUintN(64, value) === value ? value.toString(16) : '0';
}
