import { join } from 'node:path';
import type { Container, Pod } from '../../../model/pod.ts';
import { isSet } from './security-context.ts';

type Profile = NonNullable<NonNullable<Container['securityContext']>['seccompProfile']>;

const POD_ANNOTATION = 'seccomp.security.alpha.kubernetes.io/pod';
const CONTAINER_ANNOTATION_PREFIX = 'container.seccomp.security.alpha.kubernetes.io/';
const LOCALHOST = 'localhost/';

/**
 * Which profile a container asks for: its field, its annotation, the pod's field, the pod's annotation; "" is none
 * (kuberuntime/helpers.go). Throws when it lies outside of the profiles' directory.
 */
export function seccompProfile(pod: Pod, container: Container, profileRoot: string): string {
  const annotations = pod.metadata.annotations ?? {};
  const ofContainer = container.securityContext?.seccompProfile;
  if (isSet(ofContainer)) return ofField(ofContainer, profileRoot);
  const containerAnnotation = annotations[CONTAINER_ANNOTATION_PREFIX + container.name];
  if (containerAnnotation !== undefined) return ofAnnotation(containerAnnotation, profileRoot);
  const ofPod = pod.spec.securityContext?.seccompProfile;
  if (isSet(ofPod)) return ofField(ofPod, profileRoot);
  return ofAnnotation(annotations[POD_ANNOTATION] ?? '', profileRoot);
}

function ofField({ type, localhostProfile }: Profile, profileRoot: string): string {
  if (type === 'RuntimeDefault') return 'runtime/default';
  if (type === 'Localhost' && localhostProfile) return LOCALHOST + profilePath(localhostProfile, profileRoot);
  return type === 'Unconfined' ? 'unconfined' : '';
}

function ofAnnotation(profile: string, profileRoot: string): string {
  return profile.startsWith(LOCALHOST) ? LOCALHOST + profilePath(profile.slice(LOCALHOST.length), profileRoot) : profile;
}

/** What an API server lets through is not taken on trust: a profile lies in the profiles' directory. */
function profilePath(profile: string, profileRoot: string): string {
  if (profile.split('/').includes('..'))
    throw new Error(`seccomp profile ${JSON.stringify(profile)} lies outside of the directory of profiles`);
  return join(profileRoot, profile);
}
