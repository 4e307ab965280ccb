import { createHmac, randomBytes } from 'node:crypto';
import type { Clock } from '../../base/clock.ts';
import type { Asker } from './asker.ts';
import { ExpiringCache } from './expiring-cache.ts';
import type { ReviewClient } from './review-client.ts';
import type { UserInfo } from './user-info.ts';

/** The parts of authentication/v1 TokenReview that come back. */
interface TokenReview {
  readonly status?: {
    readonly authenticated?: boolean;
    readonly error?: string;
    readonly user?: {
      readonly username?: string;
      readonly uid?: string;
      readonly groups?: readonly string[];
      readonly extra?: Readonly<Record<string, readonly string[]>>;
    };
  };
}

const PATH = '/apis/authentication.k8s.io/v1/tokenreviews';
/** More than clients of one node have. */
const MOST_TOKENS = 4 * 1024;
/** Users with more to them than this are not kept. Characters of JSON. */
const LONGEST_USER = 10_000;

/** Whose token it is: undefined when the API server does not know it, a rejection when that could not be found out. */
export type TokenReviewer = (token: string, asker: Asker) => Promise<UserInfo | undefined>;

/** Has the API server say whose a token is, and believes it for a time. Tokens are not kept, only keyed hashes of them. */
export function tokenReviewer(reviews: ReviewClient, clock: Clock, cacheTtlMs: number): TokenReviewer {
  const cache = new ExpiringCache<{ readonly user: UserInfo | undefined }>(MOST_TOKENS, clock);
  const secret = randomBytes(32);
  return async (token, { peer, signal: own }) => {
    const key = createHmac('sha256', secret).update(token).digest('base64');
    const { user } = await cache.get(
      key,
      own,
      async (signal) => ({ user: await review(reviews, token, { peer, signal }) }),
      (answer) => (JSON.stringify(answer).length > LONGEST_USER ? 0 : cacheTtlMs),
    );
    return user;
  };
}

async function review(reviews: ReviewClient, token: string, asker: Asker): Promise<UserInfo | undefined> {
  const asked = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenReview', spec: { token } };
  const { status } = await reviews.ask<TokenReview>(PATH, asked, asker);
  if (status?.authenticated !== true) {
    if (status?.error !== undefined && status.error !== '') throw new Error(status.error);
    return undefined;
  }
  const { username = '', uid, groups = [], extra } = status.user ?? {};
  return { name: username, groups, ...(uid === undefined ? {} : { uid }), ...(extra === undefined ? {} : { extra }) };
}
