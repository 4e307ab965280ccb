import { planManifests } from './agent/plan-manifests.ts';
import type { Clock } from './base/clock.ts';
import { AgentClient } from './cli/agent-client.ts';
import type { PlanTools } from './cli/plan.ts';
import { planRequest } from './cli/plan-request.ts';
import { type PlanAnswer, planAnswer } from './model/planned-changes.ts';
import { declaredIn } from './sources/declared-in.ts';
import { manifestContents } from './sources/manifest-contents.ts';

// With the command: both know its errors by their class.
export { runPlan } from './cli/plan.ts';

/** Joins the command, how manifests are read, and who plans: the planner here, or the agent's. */
export function planTools(from: { readonly nodeName: string; readonly clock: Pick<Clock, 'schedule'> }): PlanTools {
  return {
    async against(paths, directory) {
      const [before, after] = [await declaredIn([directory], from), await declaredIn(paths, from)];
      const answer = planAnswer(planManifests(before, after), [...before.refused, ...after.refused]);
      return { answer, unreadable: [...before.unreadable, ...after.unreadable] };
    },
    async onNode(paths, socketPath) {
      const { body, unreadable } = planRequest(await manifestContents(paths));
      return { answer: (await new AgentClient(socketPath).post('/rxlet/v1/plan', body)) as PlanAnswer, unreadable };
    },
  };
}
