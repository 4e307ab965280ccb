import { type LevelOfFiles, vmodule } from '../accepted-kinds.ts';
import { int32, oneOf, orUnset, string, uint, uint32 } from '../kinds.ts';
import { liveOption, option } from '../option.ts';

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
