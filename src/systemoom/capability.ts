import { nodeReference } from '../model/object-reference.ts';
import type { Contribution } from '../ports/contribution.ts';
import type { NodeParts } from '../ports/node-parts.ts';
import { openKernelLog } from './kernel-log.ts';
import type { OomVictim } from './oom-victims.ts';
import { watchSystemOoms } from './watch-system-ooms.ts';

/** Events SystemOOM about the node, in the kubelet's words (pkg/kubelet/oom/oom_watcher_linux.go): looked for at each relist, so that nothing runs in between. */
export function capability({ options, folded: log, events, pleg }: NodeParts, open = openKernelLog): Contribution {
  const tell = ({ name, pid }: OomVictim): void =>
    events.record(nodeReference(options.nodeName), 'Warning', 'SystemOOM', `System OOM encountered, victim process: ${name}, pid: ${pid}`);
  return {
    services: [
      { name: 'system OOM', stage: 'beside pods', run: (signal) => watchSystemOoms({ open, looks: pleg.relists, tell, log }, signal) },
    ],
  };
}
