/** On whose behalf the API server is asked. */
export interface Asker {
  /** Where the request came from: peers take turns. */
  readonly peer: string;
  /** Aborts when the client has gone: what is asked for it alone ends then. */
  readonly signal: AbortSignal;
}
