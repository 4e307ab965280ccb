import type { AgentClient } from '../../src/cli/agent-client.ts';

/** The texts that are alive in the agent's memory, by its own /debug/pprof/heap: V8 collects all garbage before it writes it down. */
export async function textsInMemory(agent: AgentClient): Promise<readonly string[]> {
  const { strings } = (await agent.json('/debug/pprof/heap')) as { readonly strings: readonly string[] };
  return strings;
}
