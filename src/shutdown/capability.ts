import type { Contribution } from '../ports/contribution.ts';
import type { NodeParts } from '../ports/node-parts.ts';
import type { PodParticipant } from '../ports/pod-participant.ts';
import { type Logind, logind } from './logind.ts';
import { NodeShutdown } from './node-shutdown.ts';
import { shutdownTable } from './shutdown-table.ts';
import { ShutdownTimes } from './shutdown-times.ts';

/** Pods end in time when the machine goes down, and the API server hears of it (pkg/kubelet/nodeshutdown). */
export function capability(
  node: NodeParts,
  ofMachine: Logind = logind({ clock: node.clock, confDir: '/etc/systemd/logind.conf.d' }),
): Contribution {
  const shutdown = new NodeShutdown({
    ...node,
    logind: ofMachine,
    table: shutdownTable(node.options),
    times: new ShutdownTimes(node.files, node),
  });
  const admit: PodParticipant['admit'] = async () => shutdown.refusal();
  return {
    pod: { admit, wouldAdmit: admit },
    node: { errors: () => shutdown.errors(), changes: shutdown.changes },
    services: [{ name: 'node shutdown', stage: 'beside pods', run: (signal) => shutdown.run(signal) }],
  };
}
