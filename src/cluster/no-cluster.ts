import { NEVER, startWith } from 'rxjs';
import type { KubeletOptions } from '../options/kubelet-options.ts';
import type { ApiPods } from '../ports/api-pods.ts';
import type { Cluster } from '../ports/cluster.ts';
import type { KubeApi, KubeClients } from '../ports/kube-api.ts';
import type { Ground } from '../ports/node-parts.ts';
import { servingCertificate } from './certificates/serving-certificate.ts';

/** A node of its own. Only the certificate of its server is as it would be in a cluster that signs none. */
export function noCluster(
  options: Pick<KubeletOptions, 'nodeName' | 'certDir' | 'tlsCertFile' | 'tlsPrivateKeyFile' | 'rotateServerCertificates'>,
  { clock, log, tell, random }: Pick<Ground, 'clock' | 'log' | 'tell' | 'random'>,
): Cluster {
  return {
    exists: false,
    clients,
    sources: [],
    apiPods,
    recorder: { record: () => {} },
    nodes: NEVER,
    node: () => undefined,
    nodeChanges: NEVER.pipe(startWith(undefined)),
    servingCertificate: (addresses) =>
      servingCertificate({ options, nodeName: options.nodeName, addresses, clients: undefined, clock, log, tell, random }),
    listener: {},
    services: [],
  };
}

const door: KubeApi = {
  request: () => Promise.reject(new Error('there is no API server')),
  closeConnections: () => {},
};

const clients: KubeClients = { main: door, events: door, heartbeat: door, reviews: door, informer: () => NEVER };

/** Not synced: no API server has listed its pods, so what is not among them may not be taken for deleted there. */
const apiPods: ApiPods = {
  synced: false,
  changes: NEVER,
  byUid: () => undefined,
  byName: () => undefined,
  list: () => [],
  learn: () => {},
};
