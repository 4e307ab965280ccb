import type { KubeApi } from '../ports/kube-api.ts';
import type { ServiceAccountReader } from '../ports/service-account-reader.ts';

/** Reads service accounts from the API server, which from Kubernetes 1.34 on allows a node those of its own pods. */
export function serviceAccountReader(api: Pick<KubeApi, 'request'>): ServiceAccountReader {
  return (namespace, name, signal) =>
    api.request({ method: 'GET', path: `/api/v1/namespaces/${namespace}/serviceaccounts/${name}` }, signal);
}
