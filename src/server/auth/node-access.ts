import type { Clock } from '../../base/clock.ts';
import type { Logger } from '../../base/logger.ts';
import type { KubeApi } from '../../ports/kube-api.ts';
import type { ServerOptionOrigins, ServerOptions } from '../server-options.ts';
import { type AccessControl, accessControl } from './access-control.ts';
import { type AccessReviewer, accessReviewer } from './access-reviewer.ts';
import { requestAuthenticator } from './request-authenticator.ts';
import { type ReviewClient, reviewClient } from './review-client.ts';
import { tokenReviewer } from './token-reviewer.ts';

export interface NodeAccessDeps {
  readonly options: ServerOptions;
  readonly origins: ServerOptionOrigins;
  readonly nodeName: string;
  /** Whom to ask about tokens and rights; undefined without a cluster. */
  readonly api: Pick<KubeApi, 'request'> | undefined;
  readonly clock: Clock;
  readonly log: Logger;
  readonly stop: AbortSignal;
}

/**
 * Who gets in through the HTTPS port, as the options say. Where they leave no way in, or need a cluster that is not there, everybody is refused
 * and the log says what to do: see docs/adr/0008-secure-by-default.md.
 */
export function nodeAccess(deps: NodeAccessDeps): AccessControl {
  const { options, origins, api, clock, log, stop } = deps;
  const { clientCaFile, anonymousAuth, authenticationTokenWebhook, authorizationMode } = options;
  const certificates = clientCaFile !== '';
  const reviews = api && reviewClient({ api, clock, stop });
  const tokens =
    reviews && authenticationTokenWebhook ? tokenReviewer(reviews, clock, options.authenticationTokenWebhookCacheTtlMs) : undefined;
  if (!certificates && tokens === undefined && !anonymousAuth) {
    const message = 'HTTPS port closed to all clients: no way of authentication is configured';
    // Alone on a machine that is how it should be, unless more is asked for.
    if (api) log.warn(message, { advice: 'set --client-ca-file or --authentication-token-webhook' });
    else log.info(message, { advice: 'set --client-ca-file and --authorization-mode=AlwaysAllow, or use the local socket' });
  } else if (authorizationMode === 'Webhook' && api === undefined) {
    log.warn('HTTPS port closed to all clients: no cluster to ask for access reviews', {
      advice: 'set --authorization-mode=AlwaysAllow, or use the local socket',
    });
  }
  if (api === undefined && authenticationTokenWebhook && origins.authenticationTokenWebhook !== 'default') {
    log.warn('no cluster: --authentication-token-webhook has no effect');
  }
  return accessControl({
    authenticate: requestAuthenticator({ certificates, tokens, anonymous: anonymousAuth }),
    mayAccess: reviewer(deps, reviews),
    log,
  });
}

function reviewer({ options, nodeName, clock }: NodeAccessDeps, reviews: ReviewClient | undefined): AccessReviewer {
  if (options.authorizationMode === 'AlwaysAllow') return () => Promise.resolve(true);
  if (reviews === undefined) return () => Promise.resolve(false);
  return accessReviewer(reviews, clock, {
    nodeName,
    authorizedTtlMs: options.authorizationWebhookCacheAuthorizedTtlMs,
    unauthorizedTtlMs: options.authorizationWebhookCacheUnauthorizedTtlMs,
  });
}
