/** A Node's spec.configSource.configMap. Of the spec it has neither uid nor resourceVersion: they say which version was downloaded. */
export interface ConfigMapSource {
  readonly namespace: string;
  readonly name: string;
  readonly uid?: string;
  readonly resourceVersion?: string;
  readonly kubeletConfigKey: string;
}

/** One that was downloaded. */
export type DownloadedSource = Required<ConfigMapSource>;

/** The configurations of a node, as its status.config has them; undefined: the one of the node's own files and flags. */
export interface NodeConfigs {
  readonly assigned: DownloadedSource | undefined;
  readonly active: DownloadedSource | undefined;
  readonly lastKnownGood: DownloadedSource | undefined;
  /** Why `active` is not `assigned`. */
  readonly error: string | undefined;
}

/** In the words of pkg/kubelet/kubeletconfig/status, release 1.20. */
export const nodeConfigErrors = {
  load: 'failed to load config, see Kubelet log for details',
  validate: 'failed to validate config, see Kubelet log for details',
  noSource: 'failed to sync: invalid NodeConfigSource, exactly one subfield must be non-nil, but all were nil',
  download: 'failed to sync: failed to download config, see Kubelet log for details',
  internal: 'failed to sync: internal failure, see Kubelet log for details',
} as const;

export const apiPathOf = ({ namespace, name }: ConfigMapSource): string => `/api/v1/namespaces/${namespace}/configmaps/${name}`;
