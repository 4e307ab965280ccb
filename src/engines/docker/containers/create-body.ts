import { posix } from 'node:path';

/** What POST /containers/create is given, as far as this agent uses it. */
export interface CreateBody {
  readonly Hostname?: string | undefined;
  readonly User?: string | undefined;
  readonly ExposedPorts?: Readonly<Record<string, object>>;
  readonly Tty?: boolean;
  readonly OpenStdin?: boolean;
  readonly StdinOnce?: boolean;
  readonly Env?: readonly string[];
  readonly Cmd?: readonly string[] | undefined;
  readonly Entrypoint?: readonly string[] | undefined;
  readonly Healthcheck?: { readonly Test: readonly string[] };
  readonly Image: string;
  readonly WorkingDir?: string | undefined;
  readonly StopSignal?: string | undefined;
  readonly Labels: Readonly<Record<string, string>>;
  readonly HostConfig: Readonly<Record<string, unknown>>;
}

/** A container about to be created: the engine takes the name apart from the rest. */
export interface CreateRequest {
  readonly name: string;
  readonly body: CreateBody;
}

/** Docker's own client asks for this much shared memory where a kubelet says nothing (pkg/kubelet/dockershim/libdocker). */
export const DEFAULT_SHM_BYTES = 64 * 1024 * 1024;

/** Under the systemd driver docker wants the slice's name only; the root stays the root. */
export function dockerCgroupParent(parent: string, driver: 'cgroupfs' | 'systemd'): string {
  return driver === 'systemd' && parent !== '' ? posix.basename(parent) || '/' : parent;
}

/** As docker takes what the port names: a slice is the systemd driver's, "" leaves it to the engine. */
export function namedCgroupParent(parent: string | undefined): string {
  return dockerCgroupParent(parent ?? '', parent?.endsWith('.slice') ? 'systemd' : 'cgroupfs');
}

/** fsGroup first; then, for a container, the pod's own groups before those of its volumes (for a sandbox the other way round). */
export function dockerGroups(ids: readonly (number | undefined | null)[]): string[] {
  return ids.flatMap((id) => (id === undefined || id === null ? [] : [String(id)]));
}
