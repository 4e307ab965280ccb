import { bool, string } from '../kinds.ts';
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
    help: 'A KubeletConfiguration (kubelet.config.k8s.io/v1beta1) in YAML or JSON. Flags win over the file.',
  }),
  configDirectory: option<string>({
    flag: 'config-dir',
    kind: string,
    default: '',
    defaultText: 'none',
    group: 'General',
    help: 'A directory of files that end in .conf, also in directories below it: each is merged over --config, in the order of their names.',
  }),
  help: option<boolean>({ flag: 'help', shorthand: 'h', kind: bool, default: false, group: 'General', help: 'Print this text and exit.' }),
  version: option<boolean>({ flag: 'version', kind: versionKind, default: false, group: 'General', help: 'Print the version and exit.' }),
} as const;
