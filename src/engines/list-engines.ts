import { readCgroupHierarchy } from '../base/cgroup-hierarchy.ts';
import { chance } from '../base/chance.ts';
import type { Clock } from '../base/clock.ts';
import { deadline } from '../base/deadline.ts';
import { errorText } from '../base/error-text.ts';
import type { ListedEngine, ListedFeatures } from '../ports/listed-engine.ts';
import { askEndpoint } from './asking/ask-endpoint.ts';
import type { EndpointAnswer } from './asking/endpoint-answer.ts';
import { machineEndpoints, type UsualEndpoint } from './asking/usual-endpoints.ts';

const WITHIN_MS = 10_000;

type Answered = readonly [UsualEndpoint, EndpointAnswer];

/**
 * Asks all the usual places at once, or the endpoints that are named. Rejects with the signal's reason only. A place that has nothing of its
 * own to say, such as a link to the socket of another engine, is listed as any other.
 */
export async function listEngines(endpoints: readonly string[], clock: Clock, signal: AbortSignal): Promise<readonly ListedEngine[]> {
  const places = endpoints.length > 0 ? endpoints.map((endpoint) => ({ engine: '-', endpoint })) : machineEndpoints();
  const answered = await Promise.all(
    places.map(async (place): Promise<Answered> => [place, await askEndpoint(place.endpoint, clock, signal)]),
  );
  const first = endpoints.length > 0 ? undefined : answered.find(([, answer]) => answer.speaks !== 'nothing')?.[0];
  return Promise.all(answered.map(([place, answer]) => listed(place, answer, place === first, clock, signal)));
}

async function listed(
  { engine, endpoint }: UsualEndpoint,
  answer: EndpointAnswer,
  first: boolean,
  clock: Clock,
  signal: AbortSignal,
): Promise<ListedEngine> {
  if (answer.speaks === 'nothing') {
    const { found, toDo } = answer;
    return { name: engine.toLowerCase(), endpoint, answers: false, found, toDo };
  }
  const { name, version, apiVersion } = answer;
  const about = { name, endpoint, answers: true, version, first } as const;
  const api = `${answer.speaks === 'cri' ? 'CRI' : 'Docker'} ${apiVersion}`;
  using within = deadline(clock, WITHIN_MS, 'the answer', signal);
  const featuresOf = answer.speaks === 'cri' ? criFeatures : dockerFeatures;
  try {
    return { ...about, api, features: await featuresOf(endpoint, clock, within.signal) };
  } catch (error) {
    signal.throwIfAborted();
    return { ...about, api, problem: errorText(error) };
  }
}

async function criFeatures(endpoint: string, clock: Clock, signal: AbortSignal): Promise<ListedFeatures> {
  const [{ openCriClient }, { engineFeatures }, { hasEvents }, { version }] = await Promise.all([
    import('./cri/client/cri-client.ts'),
    import('./cri/features/engine-features.ts'),
    import('./cri/features/has-events.ts'),
    readCgroupHierarchy(),
  ]);
  const client = openCriClient({ endpoint, clock, random: chance, requestTimeoutMs: WITHIN_MS, tell: { engineCalled: () => {} } });
  try {
    const [features, events] = await Promise.all([
      engineFeatures({ client, cgroupVersion: version, cgroupDriver: 'cgroupfs' }, signal),
      hasEvents(client, signal),
    ]);
    const { handlers, supplementalGroupsPolicy, imageVolumes, cgroups } = features;
    return { handlers, supplementalGroupsPolicy, imageVolumes, cgroups, events, resize: true };
  } finally {
    client.close();
  }
}

async function dockerFeatures(endpoint: string, clock: Clock, signal: AbortSignal): Promise<ListedFeatures> {
  const [{ engineClient }, { engineFeatures }] = await Promise.all([
    import('./docker/client/engine-client.ts'),
    import('./docker/observe/engine-features.ts'),
  ]);
  const client = engineClient({ endpoint, clock, requestTimeoutMs: WITHIN_MS, tell: { engineCalled: () => {} } });
  try {
    const { handlers, supplementalGroupsPolicy, imageVolumes, cgroups } = await engineFeatures(client, signal);
    return { handlers, supplementalGroupsPolicy, imageVolumes, cgroups, events: true, resize: true };
  } finally {
    client.close();
  }
}
