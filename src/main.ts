import { hostname } from 'node:os';
import { basename } from 'node:path';
import { isatty } from 'node:tty';
import { systemClock } from './base/clock.ts';
import { endProcess } from './base/end-process.ts';
import type { Logger } from './base/logger.ts';
import { readRegularFile } from './base/read-regular-file.ts';
import { soonAfterAbort } from './base/soon-after-abort.ts';
import { stopOnSignals } from './base/stop-on-signals.ts';
import { Verbosity } from './base/verbosity.ts';
import { version } from './base/version.ts';
import { waitForReader } from './base/wait-for-reader.ts';
import { commands } from './options/commands.ts';
import { completeHelpText, helpText } from './options/help-text.ts';
import { streamLevels } from './options/kubelet-options.ts';
import { optionsTable } from './options/options-table.ts';
import type { ConfigSource } from './ports/config-source.ts';
import type { Surroundings } from './surroundings.ts';
import { type LoadedOptions, loadOptions, type OptionsEnvironment, OptionsError } from './options/load-options.ts';
import { versionText } from './options/version-text.ts';

/** sysexits are of no use to a supervisor: 0 well, 1 failed, 2 asked for wrongly. */
const FAILED = 1;
const MISUSED = 2;
const STANDARD_ERROR = 2;

/** Less than the 90 s after which systemd kills: the stages have 67 s at the most, and what is around them is to be as quick. */
const STOPPED_WITHIN_MS = 75_000;
/** As long may files and name servers hold up the end. A second signal and an error that nothing caught wait for nothing. */
const HELD_UP_MS = 5_000;

type FileFaults = NonNullable<OptionsEnvironment['fileFaults']>;

/** A KubeletConfiguration has some hundred lines. */
const MAX_CONFIG_BYTES = 2 ** 20;

/** Reads the command line and does what it says. Sets the exit code; the agent itself ends the process. `invokedAs` is the program's path. */
export async function main(argv: readonly string[], invokedAs: string): Promise<void> {
  // `rxlet --help | head`: a reader may leave early.
  process.stdout.on('error', () => {});
  const command = commands.find((name) => name === argv[0]);
  if (command === 'config') {
    const { runConfig } = await import('./cli/config.ts');
    process.exitCode = await runConfig(argv.slice(1), process, (flags) => loadOptions(flags, optionsEnvironment()));
    return;
  }
  if (command === 'validate') {
    process.exitCode = await validate(argv.slice(1));
    return;
  }
  if (command === 'plan') {
    process.exitCode = await plan(argv.slice(1));
    return;
  }
  if (command === 'engines') {
    process.exitCode = await engines(argv.slice(1));
    return;
  }
  if (command === 'replay') {
    const [{ runReplay }, { openReplay }] = await Promise.all([import('./cli/replay.ts'), import('./open-replay.ts')]);
    process.exitCode = await runReplay(argv.slice(1), process, openReplay);
    return;
  }
  if (command === 'completion') {
    const { runCompletion } = await import('./cli/completion.ts');
    process.exitCode = runCompletion(argv.slice(1), process);
    return;
  }
  if (argv[0] === '__complete') {
    const { runComplete } = await import('./cli/completion.ts');
    process.exitCode = await runComplete(argv.slice(1), process, optionsTable.rootDir.default);
    return;
  }
  if (command !== undefined) {
    // Asked of an agent on this machine, over its local socket.
    const { runNodeCommand } = await import('./cli/node-commands.ts');
    const { stdin, stdout, stderr, env } = process;
    const io = { stdin, stdout, stderr, nowMs: () => systemClock.now(), plain: Boolean(env['NO_COLOR']) };
    process.exitCode = await runNodeCommand(command, argv.slice(1), io, optionsTable.rootDir.default);
    return;
  }
  let loaded: LoadedOptions;
  let config: ConfigSource = { read: () => loadOptions(argv, optionsEnvironment()) };
  let problems: readonly string[] = [];
  try {
    loaded = await loadOptions(argv, { ...optionsEnvironment(), fileFaults: faultsBeforeAssigned });
    if (loaded.options.dynamicConfigDir !== '' && !loaded.options.help && !loaded.options.version) {
      ({ loaded, config, problems } = await dynamicConfig(loaded, argv, config));
    }
  } catch (error) {
    if (!(error instanceof OptionsError)) throw error;
    for (const problem of error.problems) process.stderr.write(`rxlet: ${problem}\n`);
    process.stderr.write("Run 'rxlet --help' for the flags.\n");
    process.exitCode = MISUSED;
    return;
  }
  const { options, warnings } = loaded;
  const columns = Math.min(Math.max(process.stdout.columns ?? 80, 60), 120);
  if (options.help) process.stdout.write(options.helpAll ? completeHelpText(columns) : helpText(columns));
  else if (options.version) process.stdout.write(`${versionText(invokedAs, version())}\n`);
  else {
    const verbosity = new Verbosity(options.verbosity, streamLevels(options));
    // Loaded here, so that --help and --version do not pay for it.
    const { openLog } = await import('./open-log.ts');
    const log = openLog(options, (stream) => verbosity.of(stream), basename(invokedAs));
    for (const { message, ...fields } of warnings) log.warn(message, fields);
    if (problems.length > 0) log.error('the assigned configuration cannot be used: going on with the last known good one', { problems });
    process.once('exit', () => waitForReader(process.stdout));
    end(await run(loaded, config, { log, verbosity }), HELD_UP_MS, log);
  }
}

/** The options with what the API server has assigned to the node in the place of --config. */
async function dynamicConfig(
  local: LoadedOptions,
  argv: readonly string[],
  own: ConfigSource,
): Promise<{ readonly loaded: LoadedOptions; readonly config: ConfigSource; readonly problems: readonly string[] }> {
  const { bootConfig } = await import('./dynamicconfig/boot-config.ts');
  // Of a flag that is given twice the last one counts.
  const load = (file: string): Promise<LoadedOptions> => loadOptions([...argv, `--config=${file}`], optionsEnvironment());
  const { loaded, file, configs: booted, problems } = await bootConfig({ local, load, files: optionsEnvironment() });
  await loadOptions(file === undefined ? argv : [...argv, `--config=${file}`], { ...optionsEnvironment(), fileFaults: startFaults });
  return { loaded, config: { read: () => (file === undefined ? own.read() : load(file)), booted }, problems };
}

/** By what the start loads anyway. */
const startFaults: FileFaults = async (options) => (await import('./run-process.ts')).fileFaults(options, systemClock);

/** A configuration that the API server has assigned may name other files than the node's own; what flags alone can name stays. */
const faultsBeforeAssigned: FileFaults = async (options) => {
  const faults = await startFaults(options);
  return options.dynamicConfigDir === '' ? faults : faults.filter(({ option }) => !('config' in optionsTable[option]));
};

const optionsEnvironment = (): OptionsEnvironment => ({
  hostname: hostname(),
  terminal: isatty(STANDARD_ERROR),
  readFile: (path) => readRegularFile(path, MAX_CONFIG_BYTES),
});

async function validate(argv: readonly string[]): Promise<number> {
  const [{ runValidate }, { manifestTools }] = await Promise.all([import('./cli/validate.ts'), import('./sources/manifest-tools.ts')]);
  return runValidate(argv, process, manifestTools({ nodeName: 'node' }));
}

async function plan(argv: readonly string[]): Promise<number> {
  const { planTools, runPlan } = await import('./plan-tools.ts');
  return runPlan(argv, process, planTools({ nodeName: 'node', clock: systemClock }), optionsTable.rootDir.default);
}

async function engines(argv: readonly string[]): Promise<number> {
  const [{ runEngines }, { listEngines }] = await Promise.all([import('./cli/engines.ts'), import('./engines/list-engines.ts')]);
  const { signal } = new AbortController();
  return runEngines(argv, process, (endpoints) => listEngines(endpoints, systemClock, signal));
}

const end = (code: number, withinMs: number, log: Logger): void => endProcess(code, withinMs, { process, clock: systemClock, log });

/** Runs the agent until it is stopped or fails; where it does not stop in time, what still runs is left behind. Resolves with the exit code. */
async function run(loaded: LoadedOptions, config: ConfigSource, how: Pick<Surroundings, 'log' | 'verbosity'>): Promise<number> {
  const { log } = how;
  process.on('uncaughtException', (error) => {
    log.error('uncaught error', { error });
    end(FAILED, 0, log);
  });
  const signalled = {
    on: (name: 'SIGINT' | 'SIGTERM', heard: () => void) => process.on(name, heard),
    exit: (code: number) => end(code, 0, log),
  };
  const stop = stopOnSignals(signalled, log, systemClock);
  try {
    const { runProcess } = await import('./run-process.ts');
    const late = new Error(`not stopped within ${STOPPED_WITHIN_MS / 1000} s: what still runs is left behind; the pods stay as they are`);
    return await soonAfterAbort(runProcess(loaded, config, how, stop), systemClock, STOPPED_WITHIN_MS, stop, late);
  } catch (error) {
    log.error('agent failed', { error });
    return FAILED;
  }
}
