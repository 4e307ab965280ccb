import { errorText } from '../../base/error-text.ts';
import { isJsonObject } from '../../base/json-object.ts';
import { defaultPod } from '../../model/defaulting/default-pod.ts';
import type { Pod, PodUid } from '../../model/pod.ts';

/**
 * A pod of the API server, or in words why it is none. The server has validated it, by rules that may be newer than those known here: only
 * what this agent cannot do without is asked for, unknown fields pass through, and defaults of an older server's gaps are filled in.
 */
export function readApiPod(object: unknown): Pod | string {
  if (!isJsonObject(object)) return 'not an object';
  try {
    const { metadata, spec, ...rest } = defaultPod(object);
    const { name, namespace, uid } = metadata ?? {};
    if (!isText(name)) return 'metadata.name is missing';
    if (!isText(namespace)) return 'metadata.namespace is missing';
    if (!isText(uid)) return 'metadata.uid is missing';
    if (!spec || !Array.isArray(spec.containers) || spec.containers.length === 0) return 'spec.containers is missing';
    return { ...rest, metadata: { ...metadata, name, namespace, uid: uid as PodUid }, spec };
  } catch (error) {
    return `cannot be read: ${errorText(error)}`;
  }
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== '';
}
