import type { KubeletOptions } from '../../src/options/kubelet-options.ts';
import { testEndpoint, testPauseImage } from './docker-under-test.ts';

/** What tests of the agent run on: Docker, unless only a runtime that speaks CRI is named. */
export const engineOfTests: 'docker' | 'cri' =
  process.env['RXLET_TEST_CRI_ENDPOINT'] !== undefined && process.env['RXLET_TEST_DOCKER_ENDPOINT'] === undefined ? 'cri' : 'docker';

/** Throws where none is named. */
export function criEndpoint(): string {
  const endpoint = process.env['RXLET_TEST_CRI_ENDPOINT'];
  if (endpoint === undefined) throw new Error('RXLET_TEST_CRI_ENDPOINT names no runtime: hack/containerd.sh up DIR prints one');
  return endpoint;
}

export const endpointOfTests = (): string => (engineOfTests === 'cri' ? criEndpoint() : testEndpoint);

/** By which an agent drives it. */
export const optionsOfEngine = (): Partial<KubeletOptions> =>
  engineOfTests === 'cri'
    ? { dockerEndpoint: '', containerRuntimeEndpoint: criEndpoint() }
    : { dockerEndpoint: testEndpoint, podInfraContainerImage: testPauseImage };
