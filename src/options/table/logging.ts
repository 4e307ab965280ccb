import { type LevelOfFiles, vmodule } from '../accepted-kinds.ts';
import { bool, int32, oneOf, orUnset, string, uint, uint32 } from '../kinds.ts';
import { ExpectedError, type Kind, liveOption, option } from '../option.ts';

type Threshold = 'info' | 'warning' | 'error' | 'none';
const thresholds: readonly Threshold[] = ['info', 'warning', 'error', 'none'];

/** klog's severities by name or number. It never logs FATAL here. */
const threshold: Kind<Threshold> = {
  ...oneOf(thresholds),
  name: 'severity',
  expected: 'INFO, WARNING, ERROR or FATAL, or a number from 0 to 3',
  parse: (text) => {
    const at = /^[0-3]$/.test(text) ? Number(text) : ['INFO', 'WARNING', 'ERROR', 'FATAL'].indexOf(text.toUpperCase());
    const found = thresholds[at];
    if (found === undefined) throw new ExpectedError(threshold.expected);
    return found;
  },
  show: (value) => (value === 'none' ? 'FATAL' : value.toUpperCase()),
};

export const loggingOptions = {
  verbosity: liveOption<number>({
    flag: 'v',
    shorthand: 'v',
    config: 'logging.verbosity',
    kind: { ...int32, inFile: uint32 },
    default: 0,
    group: 'Logging',
    help: 'How much detail to log: 0 transitions, 2 what led to them, 4 every look at a pod with its reasons, and error stacks.',
  }),
  vmodule: liveOption<readonly Partial<LevelOfFiles>[]>({
    flag: 'vmodule',
    config: 'logging.vmodule',
    kind: vmodule,
    default: [],
    defaultText: 'none',
    group: 'Logging',
    help: "More detail from some of the agent's streams, which a line's field `logger` names: reconcile=5,lease=2; `*`, `?` and `[a-z]` stand for what they do in file names. Also changed by PUT /debug/flags/vmodule while the agent runs.",
  }),
  logFormat: option<'json' | 'text' | undefined>({
    flag: 'log-format',
    aliases: ['logging-format'],
    config: 'logging.format',
    kind: orUnset(oneOf(['json', 'text'])),
    default: undefined,
    unset: 'text',
    defaultText: 'text on a terminal, else json',
    group: 'Logging',
    help: 'How log lines are written to standard error.',
  }),
  logToStandardError: option<boolean>({
    flag: 'logtostderr',
    kind: bool,
    default: true,
    group: 'Logging',
    help: 'false: the log goes to --log-file or --log-dir, where one of them is set, and to standard error only what --stderrthreshold says.',
  }),
  logAlsoToStandardError: option<boolean>({
    flag: 'alsologtostderr',
    kind: bool,
    default: false,
    group: 'Logging',
    help: 'With --logtostderr=false: all of the log goes to standard error, too.',
  }),
  logStandardErrorThreshold: option<Threshold>({
    flag: 'stderrthreshold',
    kind: threshold,
    default: 'error',
    group: 'Logging',
    help: 'With --logtostderr=false: lines of this severity or a worse one go to standard error, too; FATAL: none.',
  }),
  logFile: option<string>({
    flag: 'log-file',
    kind: string,
    default: '',
    defaultText: 'none',
    group: 'Logging',
    help: 'With --logtostderr=false: the file for the whole log, for root alone. While it cannot be written, lines go to standard error.',
  }),
  logDir: option<string>({
    flag: 'log-dir',
    kind: string,
    default: '',
    defaultText: 'none',
    group: 'Logging',
    help: 'With --logtostderr=false and no --log-file: the directory of a log file a severity, such as rxlet.INFO, each with what is worse, too. They go on over restarts.',
  }),
  logFileMaxMegabytes: option<number>({
    flag: 'log-file-max-size',
    kind: uint,
    default: 1800,
    group: 'Logging',
    help: 'How large a log file may become, in MiB: then it gets the ending .1, in place of the one before, and is begun again; 0: any size.',
  }),
  logOneOutput: option<boolean>({
    flag: 'one-output',
    kind: bool,
    default: false,
    group: 'Logging',
    help: 'With --log-dir: each line is in the file of its own severity only.',
  }),
  skipLogHeaders: option<boolean>({
    flag: 'skip-headers',
    kind: bool,
    default: false,
    group: 'Logging',
    help: 'Lines of the text format begin without severity and time.',
  }),
  tracingEndpoint: option<string | undefined>({
    config: 'tracing.endpoint',
    kind: string,
    default: undefined,
    defaultText: 'localhost:4317 where `tracing` is set, else none',
    group: 'Logging',
    help: 'The collector that OpenTelemetry spans of what the agent does are sent to, over OTLP/gRPC in the clear: HOST:PORT, dns:///HOST:PORT, unix:///PATH or unix-abstract:NAME.',
  }),
  tracingSamplingRatePerMillion: option<number | undefined>({
    config: 'tracing.samplingRatePerMillion',
    kind: int32,
    default: undefined,
    defaultText: '0 where `tracing` is set',
    group: 'Logging',
    help: "Of how many in a million looks at pods, and other work that nothing asked the agent to trace, spans are sent. Requests to the node's server that carry a sampled `traceparent` are always traced.",
  }),
  timelineMaxMib: option<number>({
    flag: 'timeline-max-mib',
    kind: uint,
    default: 16,
    group: 'Logging',
    help: 'How much of what happens is kept on disk, in <root-dir>/timeline, for `rxlet timeline`, also over restarts; the oldest goes first. Mebibytes; 0: nothing, and `rxlet explain` forgets pods once they are gone.',
  }),
} as const;
