import type { ReferencedKind } from './pod-references.ts';

/** A ConfigMap or a Secret of a manifest, as the API server would keep it: a Secret's data is base64, also what was written as stringData. */
export interface ManifestObject {
  readonly kind: ReferencedKind;
  readonly metadata: { readonly name: string; readonly namespace: string; readonly uid: string; readonly resourceVersion: string };
  /** Of a Secret. */
  readonly type?: string;
  readonly data?: Readonly<Record<string, string>>;
  readonly binaryData?: Readonly<Record<string, string>>;
  readonly immutable?: boolean;
}
