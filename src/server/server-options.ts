import type { TlsVersionName } from '../model/tls-settings.ts';

/** What the server reads of the agent's options, under their names there. */
export interface ServerOptions {
  readonly rootDir: string;
  readonly enableServer: boolean;
  readonly address: string;
  readonly port: number;
  /** 0: none. */
  readonly readOnlyPort: number;
  readonly healthzBindAddress: string;
  /** 0: none. */
  readonly healthzPort: number;
  /** "127.0.0.1:8080"; empty: none. */
  readonly pageAddress: string;
  readonly enableDebuggingHandlers: boolean;
  readonly enableSystemLogHandler: boolean;
  readonly enableProfilingHandler: boolean;
  readonly enableDebugFlagsHandler: boolean;
  /** 0: for ever. */
  readonly streamingConnectionIdleTimeoutMs: number;
  /** Empty: none. */
  readonly clientCaFile: string;
  readonly anonymousAuth: boolean;
  readonly authenticationTokenWebhook: boolean;
  readonly authenticationTokenWebhookCacheTtlMs: number;
  readonly authorizationMode: 'AlwaysAllow' | 'Webhook';
  readonly authorizationWebhookCacheAuthorizedTtlMs: number;
  readonly authorizationWebhookCacheUnauthorizedTtlMs: number;
  readonly tlsMinVersion: TlsVersionName;
  readonly tlsCipherSuites: readonly string[];
  readonly tlsCurvePreferences: readonly number[];
}

type Origin = 'flag' | 'file' | 'default';

/** Where a value comes from decides how hard the server insists on it. */
export interface ServerOptionOrigins {
  readonly address: Origin;
  readonly port: Origin;
  readonly authenticationTokenWebhook: Origin;
}
