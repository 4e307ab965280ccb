import type { IncomingHttpHeaders } from 'node:http';
import type { Asker } from './asker.ts';
import { bearerToken, webSocketToken } from './bearer-token.ts';
import type { TokenReviewer } from './token-reviewer.ts';
import { anonymousUser, authenticated, type UserInfo } from './user-info.ts';

/** What a request shows of who sends it. */
export interface Credentials {
  /** Loses the token once it was believed, so that no handler passes it on. */
  readonly headers: IncomingHttpHeaders;
  /** Whom the connection's client certificate names; undefined without one. Throws when it is not to be believed. */
  readonly certificateUser: () => UserInfo | undefined;
}

export interface AuthenticatorOptions {
  readonly certificates: boolean;
  /** Undefined: tokens cannot be reviewed. */
  readonly tokens: TokenReviewer | undefined;
  readonly anonymous: boolean;
}

/** Undefined: no credentials, where those are needed. Rejects when credentials were shown and none of them is good. */
export type RequestAuthenticator = (credentials: Credentials & Asker) => Promise<UserInfo | undefined>;

/**
 * Client certificate, token, token among WebSocket protocols: the first that names a user counts. Who shows none is anonymous where that is
 * allowed; who shows bad ones never is (apiserver authentication/authenticatorfactory and request/union).
 */
export function requestAuthenticator({ certificates, tokens, anonymous }: AuthenticatorOptions): RequestAuthenticator {
  const byCertificate = async ({ certificateUser }: Credentials): Promise<UserInfo | undefined> => certificateUser();
  const byToken =
    (reviewer: TokenReviewer) =>
    async ({ headers, peer, signal }: Credentials & Asker) => {
      const token = bearerToken(headers);
      if (token === undefined) return undefined;
      const user = await known(reviewer, token, { peer, signal });
      delete headers.authorization;
      return user;
    };
  const byProtocol =
    (reviewer: TokenReviewer) =>
    async ({ headers, peer, signal }: Credentials & Asker) => {
      const found = webSocketToken(headers);
      if (found === undefined) return undefined;
      const user = await known(reviewer, found.token, { peer, signal });
      headers['sec-websocket-protocol'] = found.protocols;
      return user;
    };
  const ways = [...(certificates ? [byCertificate] : []), ...(tokens ? [byToken(tokens), byProtocol(tokens)] : [])];
  return async (credentials) => {
    const errors: unknown[] = [];
    for (const way of ways) {
      try {
        const user = await way(credentials);
        if (user !== undefined) return authenticated(user);
      } catch (error) {
        errors.push(error);
      }
    }
    if (errors.length > 0) throw errors.length === 1 ? errors[0] : new AggregateError(errors);
    return anonymous ? anonymousUser : undefined;
  };
}

/** Tokens of Kubernetes have one or two KiB, those of identity providers a few more. */
const LONGEST_TOKEN = 16 * 1024;

async function known(reviewer: TokenReviewer, token: string, asker: Asker): Promise<UserInfo> {
  if (token.length > LONGEST_TOKEN) throw new Error(`the bearer token is longer than ${LONGEST_TOKEN} characters`);
  const user = await reviewer(token, asker);
  if (user === undefined) throw new Error('invalid bearer token');
  return user;
}
