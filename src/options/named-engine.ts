import { basename } from 'node:path';
import { engineEndpointFault, engineEndpointForms, parseEngineEndpoint } from '../model/engine-endpoint.ts';
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
type AllEndpoints = Endpoints & Pick<OptionValues, 'imageServiceEndpoint'>;

const runtimeOption = 'containerRuntimeEndpoint (--container-runtime-endpoint)';
const imageOption = 'imageServiceEndpoint (--image-service-endpoint)';

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

/** Where the images are, if that is not the engine itself; empty: it is. */
export const imageEndpoint = ({ imageServiceEndpoint }: Pick<OptionValues, 'imageServiceEndpoint'>): string =>
  withScheme(imageServiceEndpoint);

export function namedEngineProblems({ dockerEndpoint, containerRuntimeEndpoint, ...rest }: AllEndpoints): readonly string[] {
  // Passed over with a warning, whatever they are.
  if (dockerEndpoint !== '') return [];
  const [endpoint, images] = [withScheme(containerRuntimeEndpoint), imageEndpoint(rest)];
  const fault = endpoint === '' ? undefined : engineEndpointFault(endpoint);
  const ofImages = images === '' ? undefined : imageEndpointFault(images);
  return [
    ...(fault === undefined ? [] : [`invalid configuration: ${runtimeOption} ${fault}`]),
    ...(ofImages === undefined ? [] : [`invalid configuration: ${imageOption} ${ofImages}`]),
  ];
}

/** CRI is spoken on sockets of this machine only. */
function imageEndpointFault(endpoint: string): string | undefined {
  const parsed = parseEngineEndpoint(endpoint);
  if (parsed !== undefined && 'socketPath' in parsed) return undefined;
  return (engineEndpointFault(endpoint) ?? `${JSON.stringify(endpoint)}: expected ${engineEndpointForms}`).replace(
    engineEndpointForms,
    'unix:///PATH',
  );
}

export function namedEngineWarnings(values: AllEndpoints, originOf: (name: OptionName) => string): readonly OptionWarning[] {
  const { dockerEndpoint, containerRuntimeEndpoint } = values;
  if (dockerEndpoint === '') return [];
  const endpoint = withScheme(containerRuntimeEndpoint);
  const isSame = endpoint === '' || dockerEndpoint === endpoint || shims.has(basename(endpoint));
  const runtime = originOf('containerRuntimeEndpoint') === 'flag' ? '--container-runtime-endpoint' : 'containerRuntimeEndpoint';
  const images = originOf('imageServiceEndpoint') === 'flag' ? '--image-service-endpoint' : 'imageServiceEndpoint';
  return [
    ...(isSame ? [] : [{ message: 'container runtime is passed over for the engine of --docker-endpoint', option: runtime }]),
    ...(imageEndpoint(values) === ''
      ? []
      : [{ message: 'image service is passed over for the images of the engine of --docker-endpoint', option: images }]),
  ];
}

/** A path alone, which a kubelet takes as well (pkg/kubelet/util/util_unix.go). */
const withScheme = (endpoint: string): string => (endpoint.startsWith('/') ? `unix://${endpoint}` : endpoint);
