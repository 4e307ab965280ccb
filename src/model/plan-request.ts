/** A manifest that is not a file here, or not yet. */
export interface ManifestText {
  /** "web.yaml", or a path: a file of the manifest directory with the same last part is the one whose place it takes. */
  readonly file: string;
  /** YAML or JSON. */
  readonly text: string;
}

/** Body of POST /rxlet/v1/plan, which is answered with a PlanAnswer. */
export interface PlanRequest {
  readonly manifests: readonly ManifestText[];
  /** They are all that the manifest directory would hold: pods that they lack stop. Default: all other manifests stay. */
  readonly whole?: boolean;
  /** Files among them that could not be read: they take no pod away. */
  readonly unreadable?: readonly string[];
}

/** Of a request's body, in bytes: what the agent's server takes at most. */
export const MAX_PLAN_BYTES = 3 * 1024 * 1024;
