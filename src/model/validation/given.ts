import type { V1Container, V1ObjectMeta, V1PodSpec } from '@kubernetes/client-node';

/** A type as a manifest gives it: what Kubernetes requires may still be missing, which is for validation to say. */
export type Given<T> = unknown extends T
  ? T
  : T extends Date
    ? string
    : T extends readonly (infer U)[]
      ? readonly Given<U>[]
      : T extends object
        ? string extends keyof T
          ? Readonly<Record<string, Given<T[keyof T]>>>
          : { readonly [K in keyof T]?: Given<T[K]> }
        : T;

export type ObjectMeta = Given<V1ObjectMeta>;
export type PodSpec = Given<V1PodSpec>;
export type Container = Given<V1Container>;
