import { ExpiringCache } from './expiring-cache.ts';
import type { NodeVerb } from './node-attributes.ts';
import { askReview, type ReviewClientDeps } from './review-client.ts';
import type { UserInfo } from './user-info.ts';

/** The parts of authorization/v1 SubjectAccessReview that come back. */
interface SubjectAccessReview {
  readonly status?: { readonly allowed?: boolean; readonly denied?: boolean };
}

const PATH = '/apis/authorization.k8s.io/v1/subjectaccessreviews';
/** As apiserver's webhook authorizer has them. */
const MOST_ANSWERS = 8 * 1024;
const LONGEST_KEY = 10_000;

export interface AccessReviewerOptions {
  readonly nodeName: string;
  readonly authorizedTtlMs: number;
  readonly unauthorizedTtlMs: number;
}

/** Whether the user may do that with a subresource of this node. Rejects when that could not be told. */
export type AccessReviewer = (user: UserInfo, verb: NodeVerb, subresource: string) => Promise<boolean>;

/** Has the API server say what a user may do, and believes it for a time. */
export function accessReviewer(deps: ReviewClientDeps, options: AccessReviewerOptions): AccessReviewer {
  const { nodeName, authorizedTtlMs, unauthorizedTtlMs } = options;
  const cache = new ExpiringCache<boolean>(MOST_ANSWERS, deps.clock);
  return (user, verb, subresource) => {
    const spec = {
      user: user.name,
      ...(user.uid === undefined ? {} : { uid: user.uid }),
      groups: user.groups,
      ...(user.extra === undefined ? {} : { extra: user.extra }),
      resourceAttributes: { group: '', version: 'v1', resource: 'nodes', subresource, name: nodeName, verb },
    };
    const key = JSON.stringify(spec);
    return cache.get(
      key,
      async () => {
        const asked = { apiVersion: 'authorization.k8s.io/v1', kind: 'SubjectAccessReview', spec };
        const { status } = await askReview<SubjectAccessReview>(deps, PATH, asked);
        return status?.allowed === true && status.denied !== true;
      },
      (allowed) => (key.length > LONGEST_KEY ? 0 : allowed ? authorizedTtlMs : unauthorizedTtlMs),
    );
  };
}
