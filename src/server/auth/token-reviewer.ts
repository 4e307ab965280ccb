import { createHmac, randomBytes } from 'node:crypto';
import { ExpiringCache } from './expiring-cache.ts';
import { askReview, type ReviewClientDeps } from './review-client.ts';
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
/** apiserver authentication/token/cache keeps as many. */
const MOST_TOKENS = 32 * 1024;

/** Whose token it is: undefined when the API server does not know it, a rejection when that could not be told. */
export type TokenReviewer = (token: string) => Promise<UserInfo | undefined>;

/** Has the API server say whose a token is, and believes it for a time. Tokens are not kept, only keyed hashes of them. */
export function tokenReviewer(deps: ReviewClientDeps, cacheTtlMs: number): TokenReviewer {
  const cache = new ExpiringCache<{ readonly user: UserInfo | undefined }>(MOST_TOKENS, deps.clock);
  const secret = randomBytes(32);
  return async (token) => {
    const key = createHmac('sha256', secret).update(token).digest('base64');
    const { user } = await cache.get(
      key,
      async () => ({ user: await review(deps, token) }),
      () => cacheTtlMs,
    );
    return user;
  };
}

async function review(deps: ReviewClientDeps, token: string): Promise<UserInfo | undefined> {
  const asked = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenReview', spec: { token } };
  const { status } = await askReview<TokenReview>(deps, PATH, asked);
  if (status?.authenticated !== true) {
    if (status?.error !== undefined && status.error !== '') throw new Error(status.error);
    return undefined;
  }
  const { username = '', uid, groups = [], extra } = status.user ?? {};
  return { name: username, groups, ...(uid === undefined ? {} : { uid }), ...(extra === undefined ? {} : { extra }) };
}
