import { BEHAVIOUR_ANNOTATION } from '../../src/engines/fake/container-behaviour.ts';
import type { Container, Pod, PodSpec, PodUid } from '../../src/model/pod.ts';
import { aContainer, aPod } from './a-pod.ts';

/** A container that runs until SIGTERM. */
export const server = (name: string, over: Partial<Container> = {}): Container => aContainer(name, { command: ['serve'], ...over });

/** A native sidecar that runs until SIGTERM. */
export const sidecar = (name: string, over: Partial<Container> = {}): Container => server(name, { restartPolicy: 'Always', ...over });

/** A container that does its work for so many seconds and ends well, or not. */
export const worker = (name: string, seconds: number, exitCode = 0): Container =>
  aContainer(name, { command: ['sh', '-c', `sleep ${seconds}; exit ${exitCode}`] });

/** A pod of one server `app`, unless told. `behaviours` are by container, in the embedded engine's words. */
export function aPodThat(
  name: string,
  spec: Partial<PodSpec> = {},
  behaviours: Readonly<Record<string, string>> = {},
  metadata: Partial<Pod['metadata']> = {},
): Pod {
  const annotations = Object.fromEntries(Object.entries(behaviours).map(([container, words]) => [BEHAVIOUR_ANNOTATION + container, words]));
  return aPod(name, { containers: [server('app')], ...spec }, { annotations, ...metadata });
}

/** The same name with another uid, as a changed manifest file has it. */
export function edited(pod: Pod, uid: string, spec: Partial<PodSpec> = {}): Pod {
  return { ...pod, metadata: { ...pod.metadata, uid: uid as PodUid }, spec: { ...pod.spec, ...spec } };
}
