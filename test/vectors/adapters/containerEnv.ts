import { refusals } from '../../fakes/fake-kube-api.ts';
import { errorText } from '../../../src/base/error-text.ts';
import { isStaticPod } from '../../../src/model/mirror-pod.ts';
import type { Pod } from '../../../src/model/pod.ts';
import type { ReferencedObject } from '../../../src/ports/object-store.ts';
import { noAdditions } from '../../../src/agent/reconcile/pod-participants.ts';
import { containerSpec } from '../../../src/agent/reconcile/container-spec.ts';
import type { ServiceObject } from '../../../src/agent/reconcile/service-env.ts';

interface Input {
  readonly pod: Pod;
  readonly configMaps: readonly ReferencedObject[] | null;
  readonly secrets: readonly ReferencedObject[] | null;
  readonly services: readonly ServiceObject[] | null;
  readonly servicesSynced?: boolean;
  readonly podIPs: readonly string[] | null;
}

const allocatable = { cpu: '4', memory: '8Gi', 'ephemeral-storage': '20Gi' };

export async function run({ pod, configMaps, secrets, services, servicesSynced = true, podIPs }: Input): Promise<unknown> {
  const [container] = pod.spec.containers;
  if (container === undefined) throw new Error('no container');
  const objects = { ConfigMap: configMaps ?? [], Secret: secrets ?? [] };
  const events: string[] = [];
  const told = (): object => (events.length > 0 ? { events } : {});
  try {
    const spec = await containerSpec(pod, container, { attempt: 0, imageRef: '' }, AbortSignal.timeout(10_000), {
      podIps: async () => podIPs ?? [],
      hostIp: '10.1.2.3',
      additions: async (env) => ({ ...noAdditions, env }),
      objects: {
        get: async ({ kind, namespace, name }) => {
          const found = objects[kind].find(({ metadata }) => metadata.namespace === namespace && metadata.name === name);
          if (found === undefined) throw refusals.notFound(`${kind.toLowerCase()}s "${name}"`);
          return found;
        },
      },
      volumeFile: async () => undefined,
      // A static pod waits for no services.
      services: servicesSynced || isStaticPod(pod) ? (services ?? []) : undefined,
      masterServiceNamespace: 'default',
      allocatable,
      onInvalidNames: (message) => events.push(`Warning InvalidEnvironmentVariableNames ${message}`),
    });
    const env = spec.env.toSorted((a, b) => (a.name < b.name ? -1 : 1));
    return { env, command: spec.command, args: spec.args, ...told() };
  } catch (error) {
    return { error: errorText(error), ...told() };
  }
}
