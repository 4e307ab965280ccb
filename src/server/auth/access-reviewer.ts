import { createHash } from 'node:crypto';
import type { Clock } from '../../base/clock.ts';
import type { Asker } from './asker.ts';
import { ExpiringCache } from './expiring-cache.ts';
import type { NodeVerb } from './node-attributes.ts';
import type { ReviewClient } from './review-client.ts';
import type { UserInfo } from './user-info.ts';

/** The parts of authorization/v1 SubjectAccessReview that come back. */
interface SubjectAccessReview {
  readonly status?: { readonly allowed?: boolean; readonly denied?: boolean };
}

const PATH = '/apis/authorization.k8s.io/v1/subjectaccessreviews';
/** apiserver's webhook authorizer keeps as many. */
const MOST_ANSWERS = 8 * 1024;

export interface AccessReviewerOptions {
  readonly nodeName: string;
  readonly authorizedTtlMs: number;
  readonly unauthorizedTtlMs: number;
}

/** Whether the user may do that with a subresource of this node. Rejects when that could not be found out. */
export type AccessReviewer = (user: UserInfo, verb: NodeVerb, subresource: string, asker: Asker) => Promise<boolean>;

/** Has the API server say what a user may do, and believes it for a time. */
export function accessReviewer(reviews: ReviewClient, clock: Clock, options: AccessReviewerOptions): AccessReviewer {
  const { nodeName, authorizedTtlMs, unauthorizedTtlMs } = options;
  const cache = new ExpiringCache<boolean>(MOST_ANSWERS, clock);
  return (user, verb, subresource, { peer, signal: own }) => {
    const spec = {
      user: user.name,
      ...(user.uid === undefined ? {} : { uid: user.uid }),
      groups: user.groups,
      ...(user.extra === undefined ? {} : { extra: user.extra }),
      resourceAttributes: { group: '', version: 'v1', resource: 'nodes', subresource, name: nodeName, verb },
    };
    // What a user is called and belongs to may be long.
    const key = createHash('sha256').update(JSON.stringify(spec)).digest('base64');
    return cache.get(
      key,
      own,
      async (signal) => {
        const asked = { apiVersion: 'authorization.k8s.io/v1', kind: 'SubjectAccessReview', spec };
        const { status } = await reviews.ask<SubjectAccessReview>(PATH, asked, { peer, signal });
        return status?.allowed === true && status.denied !== true;
      },
      (allowed) => (allowed ? authorizedTtlMs : unauthorizedTtlMs),
    );
  };
}
