import { join } from 'node:path';
import { serveGrpcSocket } from '../base/grpc/grpc-socket.ts';
import { makeDirectory } from '../base/make-directory.ts';
import type { Contribution } from '../ports/contribution.ts';
import type { NodeParts } from '../ports/node-parts.ts';

type PodResourcesNeeds = Pick<NodeParts, 'options' | 'clock' | 'log' | 'tell' | 'pods' | 'statuses'>;

/**
 * Tells agents of the node on pod-resources/kubelet.sock which devices, CPUs and memory containers have for themselves
 * (pkg/kubelet/apis/podresources). Nothing of it is loaded before the first of them asks.
 */
export function capability({ options, clock, log, tell, pods, statuses }: PodResourcesNeeds): Contribution {
  const directory = join(options.rootDir, 'pod-resources');
  return {
    services: [
      {
        name: 'pod resources',
        stage: 'server',
        run: (signal, { assigned }) =>
          serveGrpcSocket(
            {
              path: join(directory, 'kubelet.sock'),
              mode: 0o660,
              prepare: () => makeDirectory(directory, 0o750),
              load: async () => (await import('./pod-resources-server.ts')).podResourcesServer({ pods, statuses, assigned, clock, tell }),
              clock,
              log,
            },
            signal,
          ),
      },
    ],
  };
}
