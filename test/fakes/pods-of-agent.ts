import type { PodUid } from '../../src/model/pod.ts';
import type { AgentOnFakeEngine } from './agent-on-fake-engine.ts';

/** As the builders make them. */
export const uidOf = (name: string): PodUid => `uid-${name}` as PodUid;

/** The pod of each container that runs. */
export const running = ({ engine }: Pick<AgentOnFakeEngine, 'engine'>): readonly string[] =>
  engine.controls
    .world()
    .filter(({ state, role }) => state.phase === 'running' && role.kind === 'container')
    .map(({ podName }) => podName)
    .sort();

/** Its phase, and why that is so. */
export const outcomeOf = (agent: Pick<AgentOnFakeEngine, 'statuses'>, name: string): unknown => {
  const { phase, reason, message } = agent.statuses.get(uidOf(name)) ?? {};
  return [phase, reason, message];
};
