import { idleOptions } from '../idle-options.ts';
import { fieldOf, type Kind } from '../option.ts';
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
  'userNamespaces.idsPerPod',
]);

const isNothing = (value: unknown): boolean =>
  value === '' || (typeof value === 'object' && value !== null && Object.keys(value).length === 0);

/** Every field that is known, by its path. */
export const configFields: ReadonlyMap<string, ConfigField> = new Map(
  [
    ...allOptions.map(([, declared]) => {
      // One of Kubernetes 1.3 alone is in no file by default.
      const unset = declared.config === undefined ? undefined : (declared.unset ?? declared.default);
      return { ...declared, config: fieldOf(declared), unset };
    }),
    ...idleOptions,
  ].flatMap(({ config, kind, unset, zeroInFileIsUnset, path }) => {
    if (config === undefined) return [];
    const byDefault = withoutDefault.has(config) || isNothing(unset) ? undefined : unset;
    return [
      [
        config,
        { path: config, kind: kind.inFile ?? kind, unset: byDefault, zeroIsUnset: zeroInFileIsUnset === true, isPath: path === true },
      ],
    ];
  }),
);

/** Fields of Kubernetes 1.3 that have another name by now → that name; undefined: there is only a flag. */
export const formerFields: ReadonlyMap<string, { readonly now: string | undefined; readonly flag: string | undefined }> = new Map(
  allOptions.flatMap(([, { formerField, config, flag }]) => (formerField === undefined ? [] : [[formerField, { now: config, flag }]])),
);
