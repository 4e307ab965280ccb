import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { absolutePath } from './absolute-path.ts';
import type { Logger } from '../base/logger.ts';
import type { KubeletOptions } from '../options/kubelet-options.ts';
import type { CgroupManager } from './cgroup-manager.ts';

/** The agent itself: how soon it is killed when memory runs out, and the cgroup that it is to be in. What cannot be is said. */
export async function setOwnProcess(
  { oomScoreAdj, kubeletCgroups }: Pick<KubeletOptions, 'oomScoreAdj' | 'kubeletCgroups'>,
  { manager, log, proc }: { readonly manager: CgroupManager; readonly log: Logger; readonly proc: string },
): Promise<void> {
  try {
    await writeFile(join(proc, 'self/oom_score_adj'), `${oomScoreAdj}`, { flag: 'r+' });
  } catch (error) {
    log.v(2, "the agent's OOM score is left as it was: it takes CAP_SYS_RESOURCE to lower it", { oomScoreAdj, error });
  }
  if (kubeletCgroups === '') return;
  try {
    await manager.enter(absolutePath(kubeletCgroups), process.pid);
  } catch (error) {
    log.warn('the agent stays in the cgroup that it was started in', { kubeletCgroups, error });
  }
}
