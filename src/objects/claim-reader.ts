import type { ClaimReader } from '../ports/claim-reader.ts';
import type { KubeApi } from '../ports/kube-api.ts';

/** Reads claims and volumes from the API server, which allows a node those of its own pods. */
export function claimReader(api: Pick<KubeApi, 'request'>): ClaimReader {
  return {
    claim: (namespace, name, signal) =>
      api.request({ method: 'GET', path: `/api/v1/namespaces/${namespace}/persistentvolumeclaims/${name}` }, signal),
    volume: (name, signal) => api.request({ method: 'GET', path: `/api/v1/persistentvolumes/${name}` }, signal),
  };
}
