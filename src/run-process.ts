import { systemClock } from './base/clock.ts';
import type { LoadedOptions } from './options/load-options.ts';
import { capabilities, runAgent } from './run-agent.ts';
import type { ConfigSource } from './ports/config-source.ts';
import { realSurroundings, type Surroundings } from './surroundings.ts';
import { setOpenFiles } from './set-open-files.ts';
import { takeServiceManager } from './systemd/service-manager.ts';

export { fileFaults } from './named-files.ts';

type How = Pick<Surroundings, 'log' | 'verbosity' | 'config'>;

/** The agent of this process, with what is real around it, and recorded where the options ask for that. Resolves with the exit code. */
export async function runProcess(
  loaded: LoadedOptions,
  config: ConfigSource,
  own: Omit<How, 'config'>,
  stop: AbortSignal,
): Promise<number> {
  const how = { ...own, config };
  if (loaded.options.lockFile === '') return runService(loaded, how, stop);
  const { withLockFile } = await import('./with-lock-file.ts');
  return withLockFile(loaded.options, how.log, stop, (until) => runService(loaded, how, until));
}

/** As a service manager wants it, where one wants to hear from it. */
async function runService(loaded: LoadedOptions, how: How, stop: AbortSignal): Promise<number> {
  const manager = takeServiceManager(process.env, process.pid);
  if (manager === undefined) return openAgent(loaded, how, stop);
  const { runNotified } = await import('./systemd/run-notified.ts');
  const deps = { clock: systemClock, log: how.log.stream('systemd'), manager, privileged: process.geteuid?.() === 0 };
  return runNotified((beside) => openAgent(loaded, { ...how, beside }, stop), deps, stop);
}

async function openAgent({ options, origins }: LoadedOptions, how: How & Pick<Surroundings, 'beside'>, stop: AbortSignal): Promise<number> {
  const openFiles = { maxOpenFiles: options.maxOpenFiles, asked: origins.maxOpenFiles !== 'default' };
  await setOpenFiles(openFiles, { clock: systemClock, log: how.log }, stop).catch((error: unknown) => {
    if (!stop.aborted) throw error;
  });
  const surroundings = realSurroundings({ origins, ...how });
  if (options.recordFile === '') return runAgent(options, surroundings, stop);
  const { recordAgent } = await import('./record-agent.ts');
  return recordAgent(options, surroundings, stop, capabilities);
}
