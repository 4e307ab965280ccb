import { featureGates } from '../options/feature-gates/feature-gates.ts';
import type { KubeletOptions } from '../options/kubelet-options.ts';
import type { Cluster } from '../ports/cluster.ts';
import type { Ground } from '../ports/node-parts.ts';
import type { PodObjects } from '../ports/pod-objects.ts';
import type { Staged } from '../ports/staged.ts';
import { type ApiForPods, noApi } from './api-for-pods.ts';
import { claimReader } from './claim-reader.ts';
import { DeclaredObjects } from './declared-objects.ts';
import { objectsByOrigin } from './objects-by-origin.ts';
import { objectStore } from './object-store.ts';
import { serviceAccountReader } from './service-account-reader.ts';
import { ServiceList } from './service-list.ts';
import { TokenManager } from './token-manager.ts';

export type ObjectsGround = { readonly cluster: Pick<Cluster, 'exists' | 'clients'> } & Pick<Ground, 'clock' | 'log' | 'random'>;

/** What pods may refer to. Nothing is watched before the services run. */
export function openObjects(options: KubeletOptions, ground: ObjectsGround): PodObjects {
  const manifests = new DeclaredObjects();
  const { objects, tokens, serviceAccount, claims, servicesFor, services } = ground.cluster.exists
    ? ofApiServer(options, ground)
    : { ...noApi, services: [] };
  return {
    ...objectsByOrigin(objects, manifests, !featureGates(options.featureGates).isOn('PreventStaticPodAPIReferences')),
    tokens,
    serviceAccount,
    claims,
    servicesFor,
    declare: (declared) => manifests.declare(declared),
    services,
  };
}

function ofApiServer(
  { configMapAndSecretChangeDetectionStrategy }: KubeletOptions,
  { cluster: { clients }, clock, log, random }: ObjectsGround,
): ApiForPods & Pick<PodObjects, 'services'> {
  const objects = objectStore(configMapAndSecretChangeDetectionStrategy, { clients, clock });
  const services = new ServiceList({ informer: clients.informer, clock });
  return {
    objects,
    tokens: new TokenManager({ api: clients.main, clock, log, random }),
    serviceAccount: serviceAccountReader(clients.main),
    claims: claimReader(clients.main),
    servicesFor: (pod, signal) => services.for(pod, signal),
    services: [services, objects].map((service): Staged => ({
      name: service.name,
      stage: 'credentials',
      run: (signal) => service.run(signal),
    })),
  };
}
