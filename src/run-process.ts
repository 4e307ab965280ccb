import type { LoadedOptions } from './options/load-options.ts';
import { capabilities, runAgent } from './run-agent.ts';
import type { ConfigSource } from './ports/config-source.ts';
import { realSurroundings, type Surroundings } from './surroundings.ts';

/** The agent of this process, with what is real around it, and recorded where the options ask for that. Resolves with the exit code. */
export async function runProcess(
  { options, origins }: LoadedOptions,
  config: ConfigSource,
  { log, verbosity }: Pick<Surroundings, 'log' | 'verbosity'>,
  stop: AbortSignal,
): Promise<number> {
  const surroundings = realSurroundings({ origins, log, verbosity, config });
  if (options.recordFile === '') return runAgent(options, surroundings, stop);
  const { recordAgent } = await import('./record-agent.ts');
  return recordAgent(options, surroundings, stop, capabilities);
}
