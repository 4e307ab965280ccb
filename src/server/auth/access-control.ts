import { errorText } from '../../base/error-text.ts';
import type { Logger } from '../../base/logger.ts';
import type { AccessReviewer } from './access-reviewer.ts';
import { nodeAttributes } from './node-attributes.ts';
import type { Asker } from './asker.ts';
import type { Credentials, RequestAuthenticator } from './request-authenticator.ts';

/** An answer to who may not come in: nothing of what was asked for is in it. */
export interface AccessRefusal {
  readonly status: 401 | 403 | 500;
  readonly message: string;
}

export interface AccessRequest extends Credentials, Asker {
  readonly method: string;
  /** Decoded and plain. */
  readonly path: string;
}

/** Undefined: come in. Never rejects. */
export type AccessControl = (request: AccessRequest) => Promise<AccessRefusal | undefined>;

export interface AccessControlDeps {
  readonly authenticate: RequestAuthenticator;
  readonly mayAccess: AccessReviewer;
  readonly log: Logger;
}

/** First who it is, then what they may: with the kubelet's words (pkg/kubelet/server InstallAuthFilter). */
export function accessControl({ authenticate, mayAccess, log }: AccessControlDeps): AccessControl {
  return async (request) => {
    const unauthorized: AccessRefusal = { status: 401, message: 'Unauthorized' };
    const { method, path } = request;
    let user;
    try {
      user = await authenticate(request);
    } catch (error) {
      if (request.signal.aborted) return unauthorized;
      log.warn('request refused: invalid credentials', { error: errorText(error) });
      return unauthorized;
    }
    if (user === undefined) return unauthorized;
    const { verb, subresources } = nodeAttributes(method, path);
    const about = `(user=${user.name}, verb=${verb}, resource=nodes, subresource=${subresources.at(-1) ?? ''})`;
    try {
      for (const subresource of subresources) {
        // One after the other: most are allowed the first.
        if (await mayAccess(user, verb, subresource, request)) return undefined;
      }
    } catch (error) {
      if (request.signal.aborted) return unauthorized;
      log.error('request refused: access review failed', { error, user: user.name, verb });
      return { status: 500, message: `Authorization error ${about}` };
    }
    log.v(2, 'request forbidden', { user: user.name, verb, subresource: subresources.at(-1) });
    return { status: 403, message: `Forbidden ${about}` };
  };
}
