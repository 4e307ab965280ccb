import { basename } from 'node:path';
import { engineEndpointFault } from '../model/engine-endpoint.ts';
import type { OptionWarning } from './option.ts';
import type { OptionName, OptionValues } from './options-table.ts';

/** Which engine the options name, and by which one. */
export type NamedEngine =
  | { readonly kind: 'embedded'; readonly endpoint: string }
  /** A Docker engine, or what serves the same API. */
  | { readonly kind: 'docker'; readonly endpoint: string; readonly option: string }
  /** What listens there is to be found out. */
  | { readonly kind: 'any'; readonly endpoint: string; readonly option: string }
  | { readonly kind: 'none' };

type Endpoints = Pick<OptionValues, 'dockerEndpoint' | 'containerRuntimeEndpoint'>;

const runtimeOption = 'containerRuntimeEndpoint (--container-runtime-endpoint)';

/** What stands between a kubelet and a Docker engine is not needed here: they name the engine that stands behind them. */
const shims: ReadonlyMap<string, string> = new Map([
  ['dockershim.sock', 'unix:///var/run/docker.sock'],
  ['cri-dockerd.sock', 'unix:///var/run/docker.sock'],
]);

/** --docker-endpoint wins where it is given. */
export function namedEngine({ dockerEndpoint, containerRuntimeEndpoint }: Endpoints): NamedEngine {
  if (dockerEndpoint.startsWith('fake://')) return { kind: 'embedded', endpoint: dockerEndpoint };
  if (dockerEndpoint !== '') return { kind: 'docker', endpoint: dockerEndpoint, option: '--docker-endpoint' };
  const endpoint = withScheme(containerRuntimeEndpoint);
  if (endpoint === '') return { kind: 'none' };
  const behind = shims.get(basename(endpoint));
  if (behind !== undefined) return { kind: 'docker', endpoint: behind, option: runtimeOption };
  return { kind: 'any', endpoint, option: runtimeOption };
}

export function namedEngineProblems({ dockerEndpoint, containerRuntimeEndpoint }: Endpoints): readonly string[] {
  const endpoint = withScheme(containerRuntimeEndpoint);
  // Passed over with a warning, whatever it is.
  if (endpoint === '' || dockerEndpoint !== '') return [];
  const fault = engineEndpointFault(endpoint);
  return fault === undefined ? [] : [`invalid configuration: ${runtimeOption} ${fault}`];
}

export function namedEngineWarnings(
  { dockerEndpoint, containerRuntimeEndpoint }: Endpoints,
  originOf: (name: OptionName) => string,
): readonly OptionWarning[] {
  const endpoint = withScheme(containerRuntimeEndpoint);
  if (endpoint === '' || dockerEndpoint === '' || dockerEndpoint === endpoint || shims.has(basename(endpoint))) return [];
  const option = originOf('containerRuntimeEndpoint') === 'flag' ? '--container-runtime-endpoint' : 'containerRuntimeEndpoint';
  return [{ message: 'container runtime is passed over for the engine of --docker-endpoint', option }];
}

/** A path alone, which a kubelet takes as well (pkg/kubelet/util/util_unix.go). */
const withScheme = (endpoint: string): string => (endpoint.startsWith('/') ? `unix://${endpoint}` : endpoint);
