import { allContainers } from './pod-predicates.ts';
import type { Container, Pod } from './pod.ts';

const ANNOTATION_PREFIX = 'container.apparmor.security.beta.kubernetes.io/';
const LOCALHOST = 'localhost/';

/** What the machine can enforce. */
export interface AppArmorHost {
  /** Why it enforces nothing; undefined: it does. */
  readonly fault: string | undefined;
  /** The profiles that the kernel has. Throws when they cannot be read. */
  readonly loadedProfiles: () => ReadonlySet<string>;
}

interface Asked {
  /** "runtime/default", "unconfined", "localhost/NAME"; "" when nothing is asked for. */
  readonly profile: string;
  readonly field: string;
}

/** The profile that a container asks for: its field (since 1.30), the pod's, or the annotation that came before them. */
export function appArmorProfile({ metadata, spec }: Pod, container: Container): Asked {
  const own = container.securityContext?.appArmorProfile;
  const ofPod = spec.securityContext?.appArmorProfile;
  const field = own ?? ofPod;
  if (field) {
    const names: Readonly<Record<string, string>> = { RuntimeDefault: 'runtime/default', Unconfined: 'unconfined' };
    const profile = names[field.type] ?? `${LOCALHOST}${field.localhostProfile ?? ''}`;
    return { profile, field: `${own ? `container ${container.name}: securityContext` : 'spec.securityContext'}.appArmorProfile` };
  }
  const key = ANNOTATION_PREFIX + container.name;
  return { profile: metadata.annotations?.[key] ?? '', field: `metadata.annotations[${key}]` };
}

/** Why the machine cannot confine the pod as it asks to be; undefined: it can, or is not asked to (pkg/security/apparmor). Names the field. */
export function appArmorFault(pod: Pod, host: AppArmorHost): string | undefined {
  const asked = allContainers(pod.spec).map((container) => appArmorProfile(pod, container));
  const required = asked.filter(({ profile }) => profile !== '' && profile !== 'unconfined');
  const [first] = required;
  if (!first) return undefined;
  if (host.fault !== undefined) return `${host.fault} (${first.field})`;
  for (const { profile, field } of required) {
    const fault = profileFault(profile, host);
    if (fault !== undefined) return `${fault} (${field})`;
  }
  return undefined;
}

function profileFault(profile: string, { loadedProfiles }: AppArmorHost): string | undefined {
  if (profile === 'runtime/default') return undefined;
  if (!profile.startsWith(LOCALHOST)) return `invalid AppArmor profile name: ${JSON.stringify(profile)}`;
  const name = profile.slice(LOCALHOST.length);
  try {
    return loadedProfiles().has(name) ? undefined : `profile ${JSON.stringify(name)} is not loaded`;
  } catch (error) {
    return `could not read loaded profiles: ${error instanceof Error ? error.message : String(error)}`;
  }
}
