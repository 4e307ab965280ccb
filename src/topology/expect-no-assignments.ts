import { join } from 'node:path';
import { isJsonObject } from '../base/json-object.ts';
import type { KubeletOptions } from '../options/kubelet-options.ts';
import { CPU_STATE_FILE, MEMORY_STATE_FILE, readCheckpoint } from './read-checkpoint.ts';

/** What containers had under a policy that is off by now stops the start, as it stops a kubelet's: they may still run with it. */
export async function expectNoAssignments({
  rootDir,
  cpuManagerPolicy,
  memoryManagerPolicy,
}: Pick<KubeletOptions, 'rootDir' | 'cpuManagerPolicy' | 'memoryManagerPolicy'>): Promise<void> {
  if (cpuManagerPolicy === 'none') await expectPolicy(join(rootDir, CPU_STATE_FILE), 'none');
  if (memoryManagerPolicy === 'None') await expectPolicy(join(rootDir, MEMORY_STATE_FILE), 'None');
}

const expectPolicy = (path: string, policy: string): Promise<undefined> =>
  readCheckpoint(path, (json) => {
    const found = isJsonObject(json) ? json['policyName'] : undefined;
    if (found === policy) return undefined;
    throw new Error(`configured policy ${JSON.stringify(policy)} differs from state checkpoint policy ${JSON.stringify(found ?? '')}`);
  });
