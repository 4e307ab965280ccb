import { CONTAINER_NAME_LABEL, type LabelsAndAnnotations, type StringMap } from '../../common/identity/pod-labels.ts';
import { SANDBOX_NAME } from '../../../model/sandbox-name.ts';

/** Labels that say what a container is (pkg/kubelet/dockershim/docker_service.go). */
export const TYPE_LABEL = 'io.kubernetes.docker.type';
const LOG_PATH_LABEL = 'io.kubernetes.container.logpath';
export const SANDBOX_ID_LABEL = 'io.kubernetes.sandbox.id';
export const SANDBOX_TYPE = 'podsandbox';
export const CONTAINER_TYPE = 'container';

const internalLabels: readonly string[] = [TYPE_LABEL, LOG_PATH_LABEL, SANDBOX_ID_LABEL];
const ANNOTATION_PREFIX = 'annotation.';

/** Docker has labels only: annotations become labels with a prefix. */
export function toDockerLabels(labels: StringMap, annotations: StringMap): Record<string, string> {
  const merged: Record<string, string> = { ...labels };
  for (const [key, value] of Object.entries(annotations)) merged[ANNOTATION_PREFIX + key] = value;
  return merged;
}

/** The reverse, without the labels that only the engine's side writes. */
export function fromDockerLabels(dockerLabels: StringMap): LabelsAndAnnotations {
  const hidden = dockerLabels[TYPE_LABEL] === SANDBOX_TYPE ? [...internalLabels, CONTAINER_NAME_LABEL] : internalLabels;
  const entries = Object.entries(dockerLabels).filter(([key]) => !hidden.includes(key));
  const isAnnotation = ([key]: readonly [string, string]): boolean => key.startsWith(ANNOTATION_PREFIX);
  return {
    labels: Object.fromEntries(entries.filter((entry) => !isAnnotation(entry))),
    annotations: Object.fromEntries(entries.filter(isAnnotation).map(([key, value]) => [key.slice(ANNOTATION_PREFIX.length), value])),
  };
}

export function sandboxDockerLabels({ labels, annotations }: LabelsAndAnnotations): Record<string, string> {
  return { ...toDockerLabels(labels, annotations), [TYPE_LABEL]: SANDBOX_TYPE, [CONTAINER_NAME_LABEL]: SANDBOX_NAME };
}

export function containerDockerLabels(
  { labels, annotations }: LabelsAndAnnotations,
  { sandboxId, logPath }: { readonly sandboxId: string; readonly logPath: string },
): Record<string, string> {
  return {
    ...toDockerLabels(labels, annotations),
    [TYPE_LABEL]: CONTAINER_TYPE,
    [LOG_PATH_LABEL]: logPath,
    [SANDBOX_ID_LABEL]: sandboxId,
  };
}
