import { aborted } from '../../../src/base/aborted.ts';
import type { Contribution } from '../../../src/ports/contribution.ts';
import type { NodeParts } from '../../../src/ports/node-parts.ts';

/** What the last one that was built has done, for the test that looks. */
export const did: string[] = [];

/** A capability as a newcomer would write it: it does a little of everything. */
export function capability({ log }: NodeParts): Contribution {
  const held = new Set<string>();
  return {
    pod: {
      admit: async (pod) => {
        if (pod.metadata.labels?.['licence'] === undefined) return undefined;
        return { reason: 'Forbidden', message: 'no licence is left' };
      },
      prepare: async ({ metadata }) => {
        held.add(metadata.uid);
        did.push(`prepared ${metadata.name}`);
        return undefined;
      },
      sandbox: async () => ({ cgroupParent: '/throwaway' }),
      container: async (_pod, { name }) => ({
        env: [{ name: 'LICENCE', value: `for ${name}` }],
        mounts: [{ hostPath: '/opt/licences', containerPath: '/licences', readOnly: true }],
      }),
      release: async (uid) => {
        if (held.delete(uid)) did.push('released');
      },
      remains: async (uid) => (held.has(uid) ? 'a licence' : undefined),
    },
    node: { conditions: () => [{ type: 'LicencesLeft', status: 'True', reason: 'Some', message: `${3 - held.size} of 3 are left` }] },
    routes: [
      {
        methods: ['GET'],
        path: '/licences',
        readOnly: true,
        handle: async (_request, response) => void response.end(`${3 - held.size} left\n`),
      },
    ],
    listener: { podEnded: () => void did.push('heard of the end') },
    services: [
      {
        name: 'licences',
        stage: 'before pods',
        run: async (signal) => {
          log.info('licences counted');
          did.push('service runs');
          await aborted(signal);
          did.push('service stopped');
        },
        ready: async () => void did.push('ready'),
      },
    ],
  };
}
