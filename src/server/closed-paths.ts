import type { ServerOptions } from './server-options.ts';

type Switches = Pick<
  ServerOptions,
  'enableDebuggingHandlers' | 'enableSystemLogHandler' | 'enableProfilingHandler' | 'enableDebugFlagsHandler'
>;

/** What is refused by name, with all that is below it, whatever the method; and the words to do it with. */
export type ClosedPaths = readonly (readonly [path: string, message: string])[];

/** What the kubelet closes where all of its debugging handlers are off (pkg/kubelet/server InstallDebuggingDisabledHandlers). */
export const debuggingPaths: ClosedPaths = [
  '/run',
  '/exec',
  '/attach',
  '/portForward',
  '/containerLogs',
  '/runningpods',
  '/debug/pprof',
  '/logs',
].map((path) => [path, 'Debug endpoints are disabled.\n']);

/** What the options close, in the kubelet's words (InstallSystemLogHandler, InstallProfilingHandler, InstallDebugFlagsHandler). */
export function closedPaths(options: Switches): ClosedPaths {
  if (!options.enableDebuggingHandlers) return debuggingPaths;
  return [
    ...closed(options.enableSystemLogHandler, '/logs', 'logs'),
    ...closed(options.enableProfilingHandler, '/debug/pprof', 'profiling'),
    ...closed(options.enableDebugFlagsHandler, '/debug/flags/v', 'flags'),
  ];
}

const closed = (isOpen: boolean, path: string, name: string): ClosedPaths => (isOpen ? [] : [[path, `${name} endpoint is disabled.\n`]]);
