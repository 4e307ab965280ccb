import { acceptedOptions } from '../accepted-options.ts';
import type { Kind } from '../option.ts';
import { allOptions } from '../options-table.ts';

/** A field of a KubeletConfiguration. */
export interface ConfigField {
  /** "logging.format" */
  readonly path: string;
  /** As Kubernetes decodes it, which may be more than this agent takes. */
  readonly kind: Kind<unknown>;
  /** What Kubernetes' defaulting makes of nothing; undefined: nothing. */
  readonly unset: unknown;
  readonly zeroIsUnset: boolean;
  /** A relative path, which starts at the directory of the file. */
  readonly isPath: boolean;
}

/** Fields that no file of 1.36 has by default: that are not in it any more, or whose default is made elsewhere. */
const withoutDefault: ReadonlySet<string> = new Set([
  'allowPrivileged',
  'evictionHard',
  'hostNetworkSources',
  'hostPIDSources',
  'hostIPCSources',
  'logging.sanitization',
  'tlsMinVersion',
]);

const isNothing = (value: unknown): boolean =>
  value === '' || (typeof value === 'object' && value !== null && Object.keys(value).length === 0);

/** Every field that is known, by its path. */
export const configFields: ReadonlyMap<string, ConfigField> = new Map(
  [...allOptions.map(([, declared]) => ({ ...declared, unset: declared.unset ?? declared.default })), ...acceptedOptions].flatMap(
    ({ config, kind, unset, zeroInFileIsUnset, path }) => {
      if (config === undefined) return [];
      const byDefault = withoutDefault.has(config) || isNothing(unset) ? undefined : unset;
      return [
        [
          config,
          { path: config, kind: kind.inFile ?? kind, unset: byDefault, zeroIsUnset: zeroInFileIsUnset === true, isPath: path === true },
        ],
      ];
    },
  ),
);
