import { featureGatesKind } from '../accepted-kinds.ts';
import type { GivenGates } from '../feature-gates/feature-gates.ts';
import { bool, string, uint32 } from '../kinds.ts';
import { type Kind, option } from '../option.ts';

/** The kubelet also takes `--version=raw`. */
const versionKind: Kind<boolean> = { ...bool, parse: (text) => text === 'raw' || bool.parse(text) };

export const generalOptions = {
  configFile: option<string>({
    flag: 'config',
    kind: string,
    default: '',
    defaultText: 'none',
    group: 'General',
    help: 'A KubeletConfiguration (kubelet.config.k8s.io/v1beta1) in YAML or JSON. Flags win over the file. Its changes are noticed while the agent runs.',
  }),
  configDirectory: option<string>({
    flag: 'config-dir',
    kind: string,
    default: '',
    defaultText: 'none',
    group: 'General',
    help: 'A directory of files that end in .conf, also in directories below it: each is merged over --config, in the order of their names.',
  }),
  dynamicConfigDir: option<string>({
    flag: 'dynamic-config-dir',
    kind: string,
    default: '',
    defaultText: 'none',
    group: 'General',
    help: 'A directory for configurations that a ConfigMap holds, which Node.spec.configSource names on API servers up to Kubernetes 1.23: what is assigned there goes in the place of --config, once the agent was started again, for which it ends by itself.',
    deprecated: 'Kubernetes 1.22 has deprecated such configurations, and 1.24 has none',
  }),
  featureGates: option<GivenGates>({
    flag: 'feature-gates',
    config: 'featureGates',
    kind: featureGatesKind,
    default: {},
    defaultText: 'as in Kubernetes 1.36',
    group: 'General',
    help: 'Features that are switched on or off: Name=true, comma-separated; AllAlpha and AllBeta stand for all of a stage that are not named. May be repeated; those of flags are added to those of files.',
  }),
  recordFile: option<string>({
    flag: 'record',
    kind: string,
    default: '',
    defaultText: 'none',
    group: 'General',
    help: 'A file to record to: all that reaches the agent, and what it decides, for `rxlet replay FILE`. Hashes stand for the values of Secrets; pods are recorded as they are declared. What was there is kept as FILE.previous.',
  }),
  recordMaxMib: option<number>({
    flag: 'record-max-mib',
    kind: uint32,
    default: 256,
    group: 'General',
    help: 'How large the file of --record may become, in MiB: then the recording ends, and the agent goes on.',
  }),
  help: option<boolean>({
    flag: 'help',
    shorthand: 'h',
    kind: bool,
    default: false,
    group: 'General',
    help: 'Print how to use the agent, and exit.',
  }),
  helpAll: option<boolean>({ flag: 'all', kind: bool, default: false, group: 'General', help: 'With --help: all flags.' }),
  version: option<boolean>({ flag: 'version', kind: versionKind, default: false, group: 'General', help: 'Print the version and exit.' }),
} as const;
