import { parseLogPolicy } from '../model/log-policy.ts';
import type { KubeletOptions } from '../options/kubelet-options.ts';
import type { Engine } from '../ports/engine.ts';
import type { Happenings } from '../ports/happenings.ts';
import type { Ground } from '../ports/node-parts.ts';
import { reportingEngine } from './reporting-engine.ts';

export type EngineGround = Pick<Ground, 'clock' | 'log' | 'random' | 'cgroups' | 'memory' | 'tracing'> & {
  readonly tell: Pick<Happenings, 'engineCalled' | 'runtimeOperated'>;
};

/** The engine behind --docker-endpoint. Each is loaded only where it is asked for, and none does anything before it is asked to. Throws on an endpoint that is none. */
export async function openEngine(options: KubeletOptions, ground: EngineGround): Promise<Engine> {
  return reportingEngine((await embedded(options, ground)) ?? (await docker(options, ground)), ground);
}

/** Undefined: another endpoint. */
async function embedded(options: KubeletOptions, { clock, log }: EngineGround): Promise<Engine | undefined> {
  const { dockerEndpoint, containerLogMaxSize, containerLogMaxFiles } = options;
  if (!dockerEndpoint.startsWith('fake://')) return undefined;
  const logPolicy = parseLogPolicy(containerLogMaxSize, containerLogMaxFiles);
  const [{ fakeEndpointOptions }, { fakeEngine }, { embeddedEngine }] = await Promise.all([
    import('./fake/fake-endpoint.ts'),
    import('./fake/fake-engine.ts'),
    import('./fake/engine.ts'),
  ]);
  return embeddedEngine(fakeEngine({ clock, log, logPolicy, ...fakeEndpointOptions(dockerEndpoint) }));
}

async function docker(options: KubeletOptions, ground: EngineGround): Promise<Engine> {
  const [{ dockerEngine }, cni] = await Promise.all([
    import('./docker/engine.ts'),
    options.networkPlugin === 'cni' ? import('./cni/cni-pods-network.ts') : undefined,
  ]);
  return dockerEngine(options, ground, cni?.cniPodsNetwork(options, ground));
}
