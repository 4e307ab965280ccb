import type { KubeletOptions } from '../options/kubelet-options.ts';
import type { Contribution } from '../ports/contribution.ts';
import type { AlignmentNeeds } from './align-resources.ts';
import { expectNoAssignments } from './expect-no-assignments.ts';
import type { SysPaths } from './read-machine-topology.ts';

/** Only then containers have something of the machine for themselves. */
const alignsResources = ({ cpuManagerPolicy, memoryManagerPolicy, topologyManagerPolicy }: KubeletOptions): boolean =>
  cpuManagerPolicy !== 'none' || memoryManagerPolicy !== 'None' || topologyManagerPolicy !== 'none';

/**
 * CPUs and memory of their own for containers, where a policy asks for it. Rejects where what was given before does not fit the machine or the
 * policies, or the machine not the options.
 */
export async function capability(needs: AlignmentNeeds, paths?: SysPaths): Promise<Contribution> {
  await expectNoAssignments(needs.options);
  if (!alignsResources(needs.options)) return {};
  const { alignResources } = await import('./align-resources.ts');
  return alignResources(needs, paths);
}
