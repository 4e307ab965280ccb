import { basename } from 'node:path';
import { engineEndpointForms, parseEngineEndpoint } from '../model/engine-endpoint.ts';
import { acceptedOptions } from './accepted-options.ts';
import type { OptionWarning } from './option.ts';
import type { OptionsOfSettings } from './options-of-settings.ts';

/** What a container runtime's endpoint means to an agent that drives Docker engines. */
export type RuntimeChoice = { readonly engine: string } | { readonly nothing: true } | { readonly problem: string };

const name = 'containerRuntimeEndpoint (--container-runtime-endpoint)';
/** The API of an engine by the name of its socket: what serves it is asked only later. */
const engineSockets: ReadonlySet<string> = new Set(['docker.sock', 'podman.sock']);
/** What stands between a kubelet and a Docker engine is not needed here. */
const shimSockets: ReadonlySet<string> = new Set(['dockershim.sock', 'cri-dockerd.sock']);

/** An endpoint that a flag or the config file gives, where nothing says which engine to take. */
function chosenRuntime(endpoint: string): RuntimeChoice {
  const parsed = parseEngineEndpoint(endpoint);
  const socket = parsed !== undefined && 'socketPath' in parsed ? basename(parsed.socketPath) : '';
  if (engineSockets.has(socket)) return { engine: endpoint };
  if (shimSockets.has(socket)) return { nothing: true };
  return {
    problem: `invalid configuration: ${name} ${JSON.stringify(endpoint)} is not what this agent drives, which is a Docker engine at ${engineEndpointForms}: say with --docker-endpoint which one to take`,
  };
}

export const runtimeEndpoint = acceptedOptions.find(({ flag }) => flag === 'container-runtime-endpoint');

/** Where --docker-endpoint says which engine to take, a container runtime that is given beside it is passed over with a warning. */
export function runtimeOf(
  flags: OptionsOfSettings,
  file: OptionsOfSettings,
): RuntimeChoice | { readonly warnings: readonly OptionWarning[] } {
  const [from, option] = [flags, file].map(({ withoutEffect }) => runtimeEndpoint && withoutEffect.get(runtimeEndpoint));
  const endpoint = from ?? option;
  if (typeof endpoint !== 'string' || endpoint === '') return { nothing: true };
  const choice = chosenRuntime(endpoint);
  const { dockerEndpoint } = flags.values;
  if (dockerEndpoint === undefined || 'nothing' in choice) return choice;
  if (dockerEndpoint === endpoint) return { nothing: true };
  const name = from === undefined ? 'containerRuntimeEndpoint' : '--container-runtime-endpoint';
  return { warnings: [{ message: 'container runtime is passed over for the engine of --docker-endpoint', option: name }] };
}
