import type { IncomingMessage } from 'node:http';
import { isJsonObject } from '../base/json-object.ts';
import { unlessAborted } from '../base/unless-aborted.ts';
import { withDeadline } from '../base/with-deadline.ts';
import { type PlanAnswer, planAnswer } from '../model/planned-changes.ts';
import { MAX_PLAN_BYTES, type ManifestText, type PlanRequest } from '../model/plan-request.ts';
import { readBody, sendJson } from '../ports/answer.ts';
import type { Contribution, Given } from '../ports/contribution.ts';
import type { NodeParts } from '../ports/node-parts.ts';
import { HttpError } from '../ports/route.ts';

const BODY_WITHIN_MS = 10_000;
const PLANNED_WITHIN_MS = 30_000;

export interface PlanRoutesDeps {
  readonly node: NodeParts;
  /** Undefined: the agent is still starting. */
  readonly given: () => Given | undefined;
}

/**
 * POST /rxlet/v1/plan: what would become of this node's pods if the manifests of the body, a PlanRequest as application/json of at most 3
 * MiB, took the place of those of the manifest directory. Answers with a PlanAnswer within 30 s, and changes nothing. One at a time: 429 where
 * another is being made. 409: there is no manifest directory; 503: it has not been read yet.
 */
export function planRoutes({ node, given }: PlanRoutesDeps): NonNullable<Contribution['routes']> {
  let underWay: Promise<unknown> | undefined;
  return [
    {
      methods: ['POST'],
      path: '/rxlet/v1/plan',
      debugging: true,
      page: 'data',
      handle: async ({ message, signal }, response) => {
        // Other pages cannot send this without being asked first.
        if (!/^application\/json\s*(?:;|$)/i.test(message.headers['content-type'] ?? ''))
          throw new HttpError(415, 'a plan is asked for with Content-Type: application/json');
        const asked = planRequest(await bodyOf(message, node, signal));
        const parts = given();
        if (parts === undefined) throw new HttpError(503, 'the agent is still starting');
        if (underWay) throw new HttpError(429, 'another plan is being made: ask again');
        const answer = await withDeadline(node.clock, PLANNED_WITHIN_MS, 'planning', signal, (within) => {
          const work = planned(node, parts, asked, within);
          // What is given up on may still be at work.
          underWay = work.catch(() => {}).finally(() => (underWay = undefined));
          return unlessAborted(work, within);
        });
        sendJson(response, answer);
      },
    },
  ];
}

async function planned(node: NodeParts, given: Given, asked: PlanRequest, signal: AbortSignal): Promise<PlanAnswer> {
  const { manifests } = given;
  if (manifests.path === '')
    throw new HttpError(
      409,
      'this agent has no manifest directory (--pod-manifest-path): there is nothing that manifests could take the place of',
    );
  const before = manifests.current();
  if (before === undefined) throw new HttpError(503, `the manifests of ${manifests.path} have not been read yet: ask again`);
  const [{ planOnNode }, read] = await Promise.all([import('./plan-on-node.ts'), manifests.read(asked.manifests, signal)]);
  const unreadable = (asked.unreadable ?? []).map((file) => ({ file, why: '' }));
  const after = { ...read, unreadable, isWhole: asked.whole ?? false };
  return planAnswer(await planOnNode(node, given, { before, after }, signal), after.refused);
}

async function bodyOf(message: IncomingMessage, { clock }: Pick<NodeParts, 'clock'>, signal: AbortSignal): Promise<unknown> {
  const text = await withDeadline(clock, BODY_WITHIN_MS, 'reading the body', signal, (within) =>
    unlessAborted(readBody(message, MAX_PLAN_BYTES), within),
  );
  try {
    return JSON.parse(text) as unknown;
  } catch (cause) {
    throw new HttpError(400, 'the body is no JSON', { cause });
  }
}

/** Throws HttpError. */
function planRequest(body: unknown): PlanRequest {
  const wrong = (what: string): HttpError =>
    new HttpError(400, `${what}: a plan is asked for as {"manifests": [{"file", "text"}], "whole"?: true}`);
  if (!isJsonObject(body) || !Array.isArray(body['manifests'])) throw wrong('no manifests');
  const { whole = false, unreadable = [] } = body;
  if (typeof whole !== 'boolean') throw wrong('whole is true or false');
  if (!Array.isArray(unreadable) || !unreadable.every((each) => typeof each === 'string')) throw wrong('unreadable is a list of files');
  const manifests = body['manifests'].map((each: unknown): ManifestText => {
    if (!isJsonObject(each) || typeof each['file'] !== 'string' || typeof each['text'] !== 'string')
      throw wrong('a manifest without file and text');
    return { file: each['file'], text: each['text'] };
  });
  return { manifests, whole, unreadable };
}
