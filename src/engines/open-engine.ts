import { type LogPolicy, parseLogPolicy } from '../model/log-policy.ts';
import type { KubeletOptions } from '../options/kubelet-options.ts';
import { namedEngine } from '../options/named-engine.ts';
import type { Engine } from '../ports/engine.ts';
import type { Happenings } from '../ports/happenings.ts';
import type { Ground } from '../ports/node-parts.ts';
import { askEndpoint } from './asking/ask-endpoint.ts';
import { machineEndpoints } from './asking/usual-endpoints.ts';
import { chooseEngine, type ChosenEngine } from './choose-engine.ts';
import { drivenEngineFile } from './driven-engine.ts';
import { reportingEngine } from './reporting-engine.ts';

export type EngineGround = Pick<Ground, 'live' | 'clock' | 'log' | 'random' | 'cgroups' | 'memory' | 'tracing' | 'files'> & {
  readonly tell: Pick<Happenings, 'engineCalled' | 'runtimeOperated'>;
};

/**
 * The engine that the options name, or one that is found. Each is loaded only where it is asked for, and none does anything before it is asked to.
 * Waits until it is known what the engine speaks; rejects with the reason of `stop`, with --runonce also where no engine answers.
 */
export async function openEngine(options: KubeletOptions, ground: EngineGround, stop: AbortSignal): Promise<Engine> {
  const named = namedEngine(options);
  if (named.kind === 'embedded') return reportingEngine(await embedded(named.endpoint, ground), ground);
  const { clock, log, files } = ground;
  const chosen = await chooseEngine(
    named,
    {
      ask: (endpoint, signal) => askEndpoint(endpoint, clock, signal),
      usual: machineEndpoints(),
      driven: drivenEngineFile(files),
      clock,
      log,
      waits: !options.runOnce,
    },
    stop,
  );
  const { name, version, endpoint, because } = chosen;
  log.info('engine chosen', { engine: name, ...(version !== undefined && { version }), endpoint, because });
  return reportingEngine(await opened(chosen, options, ground), ground);
}

function opened(chosen: ChosenEngine, options: KubeletOptions, ground: EngineGround): Promise<Engine> {
  switch (chosen.speaks) {
    case 'docker':
      return docker(chosen, options, ground);
    case 'cri':
      return cri(chosen, options, ground);
    default:
      return chosen.speaks satisfies never;
  }
}

async function embedded(endpoint: string, { live, clock, log }: EngineGround): Promise<Engine> {
  const logPolicy = (): LogPolicy | undefined => parseLogPolicy(live.now.containerLogMaxSize, live.now.containerLogMaxFiles);
  const [{ fakeEndpointOptions }, { fakeEngine }, { embeddedEngine }] = await Promise.all([
    import('./fake/fake-endpoint.ts'),
    import('./fake/fake-engine.ts'),
    import('./fake/engine.ts'),
  ]);
  return embeddedEngine(fakeEngine({ clock, log, logPolicy, ...fakeEndpointOptions(endpoint) }));
}

async function cri(chosen: ChosenEngine, options: KubeletOptions, ground: EngineGround): Promise<Engine> {
  const { criEngine } = await import('./cri/engine.ts');
  return criEngine(chosen, options, ground);
}

async function docker({ endpoint, name, version }: ChosenEngine, options: KubeletOptions, ground: EngineGround): Promise<Engine> {
  if (options.dockerEndpoint === '' && options.imageServiceEndpoint !== '')
    ground.log.warn('image service is passed over: the engine speaks the API of Docker, and has its images itself', { engine: name });
  const [{ dockerEngine }, cni] = await Promise.all([
    import('./docker/engine.ts'),
    options.networkPlugin === 'cni' ? import('./cni/cni-pods-network.ts') : undefined,
  ]);
  const speaks = version === undefined ? undefined : name === 'podman' ? 'podman' : 'docker';
  return dockerEngine({ endpoint, name, speaks }, options, ground, cni?.cniPodsNetwork(options, ground));
}
