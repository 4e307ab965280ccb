import { join } from 'node:path';
import { isMissingFile } from '../base/error-code.ts';
import { readRegularFile } from '../base/read-regular-file.ts';
import type { Pod } from '../model/pod.ts';
import { type CsiDriverObject, isForOnePod, type VolumePlan } from './volume-plan.ts';

const MAX_BYTES = 64 * 1024;
/** What a context may be made of: a pod chooses parts of it, and drivers have it among options of mount. */
const CONTEXT = /^[\w.-]+(?::[\w.,-]+)+$/;

/** The label of containers' files by the machine's policy, which applies where a pod asks for no other; undefined: there is none. */
export async function fileContext(directory = '/etc/selinux'): Promise<string | undefined> {
  const policy = lineOf(await read(join(directory, 'config')), 'SELINUXTYPE');
  if (policy === undefined || !/^[\w-]+$/.test(policy)) return undefined;
  return lineOf(await read(join(directory, policy, 'contexts', 'lxc_contexts')), 'file');
}

/**
 * The context that a volume is to be mounted with, so that its files need not be labelled one by one; undefined: it is mounted without. As a
 * kubelet decides it without the feature gate SELinuxMount (pkg/volume/util/selinux.go): for a driver that can, a volume for one pod, and
 * containers that all name the same level.
 */
export function mountContext(
  plan: VolumePlan,
  { spec }: Pod,
  volume: string,
  object: CsiDriverObject | undefined,
  defaultContext: string | undefined,
): string | undefined {
  const { securityContext } = spec;
  if (object?.spec.seLinuxMount !== true || !plan.isPersistent || plan.isBlock || !isForOnePod(plan)) return undefined;
  if (defaultContext === undefined || securityContext?.seLinuxChangePolicy === 'Recursive') return undefined;
  const containers = [...(spec.initContainers ?? []), ...spec.containers].filter(({ volumeMounts = [] }) =>
    volumeMounts.some(({ name }) => name === volume),
  );
  const contexts = containers.map((each) => {
    const { level = '', user = '' } = each.securityContext?.seLinuxOptions ?? securityContext?.seLinuxOptions ?? {};
    const [defaultUser, role, type] = defaultContext.split(':');
    return level === '' ? '' : [user || defaultUser, role, type, level].join(':');
  });
  const [context = ''] = contexts;
  // Containers that want different ones have their files labelled as before.
  return contexts.every((each) => each === context) && CONTEXT.test(context) ? context : undefined;
}

/** As `mount` is told of it (AddSELinuxMountOption): in quotes, for its commas. */
export const contextOption = (context: string): string => `context="${context}"`;

async function read(path: string): Promise<string> {
  return readRegularFile(path, MAX_BYTES).catch((error: unknown) => {
    if (isMissingFile(error)) return '';
    throw error;
  });
}

/** Of lines `key = "value"`. */
function lineOf(text: string, key: string): string | undefined {
  for (const line of text.split('\n')) {
    const [, name, value] = /^\s*(\w+)\s*=\s*"?([^"\s]+)"?\s*$/.exec(line) ?? [];
    if (name === key) return value;
  }
  return undefined;
}
