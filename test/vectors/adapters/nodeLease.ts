import { isJsonObject, type JsonObject } from '../../../src/base/json-object.ts';
import { silentLogger } from '../../../src/base/logger.ts';
import { ApiError } from '../../../src/model/api-error.ts';
import { NodeLease } from '../../../src/node/node-lease.ts';
import { FakeKubeApi, refusals, type SentRequest } from '../../fakes/fake-kube-api.ts';
import { silentHappenings } from '../../fakes/silent-happenings.ts';

type Verb = 'get' | 'create' | 'update' | 'getNode';
type Answer = 'ok' | 'error' | 'conflict' | 'notFound' | 'exists';
type Step = { readonly atMs: number } & { readonly [V in Verb]?: readonly Answer[] };

interface Input {
  readonly existing: boolean;
  readonly noNode: boolean;
  readonly steps: readonly Step[];
}

const startMs = Date.UTC(2021, 1, 3, 4, 5, 6);
const leases = '/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases';
const errors = {
  error: refusals.internal,
  conflict: refusals.conflict,
  notFound: refusals.notFound,
  exists: refusals.alreadyExists,
};

export async function run({ existing, noNode, steps }: Input): Promise<unknown> {
  let nowMs = startMs;
  let sleepsMs: number[] = [];
  let calls: object[] = [];
  let answers: Partial<Record<Verb, Answer[]>> = {};
  const clock = {
    now: () => nowMs,
    sleep: async (ms: number) => {
      sleepsMs.push(ms);
      nowMs += ms;
    },
  };
  const server = new FakeKubeApi({ now: clock.now });
  if (!noNode) server.put('/api/v1/nodes/node1', { metadata: { uid: 'node-uid' } });
  if (existing) server.put(`${leases}/node1`, { spec: { holderIdentity: 'node1', leaseDurationSeconds: 40 } });
  server.intercept((request) => {
    const ordered = answers[verbOf(request)]?.shift() ?? 'ok';
    if (ordered !== 'ok') throw errors[ordered]();
  });
  const api = {
    closeConnections: () => server.closeConnections(),
    request: async <T>(request: SentRequest, signal: AbortSignal): Promise<T> => {
      const verb = verbOf(request);
      const lease = verb === 'create' || verb === 'update' ? { lease: leaseOf(request.body) } : {};
      try {
        const answer = await server.request<T>(request, signal);
        calls.push({ verb, result: 'ok', ...lease });
        return answer;
      } catch (error) {
        calls.push({ verb, result: error instanceof ApiError ? nameOf(error) : 'error', ...lease });
        throw error;
      }
    },
  };
  const lease = new NodeLease({ clock, log: silentLogger, api, nodeName: 'node1', leaseDurationSeconds: 40, tell: silentHappenings });

  const out: unknown[] = [];
  for (const { atMs, ...ordered } of steps) {
    nowMs = startMs + atMs;
    [sleepsMs, calls] = [[], []];
    answers = Object.fromEntries(Object.entries(ordered).map(([verb, list]) => [verb, [...list]]));
    const closed = server.closed();
    await lease.sync(new AbortController().signal);
    out.push({ calls, sleepsMs, heartbeatFailures: server.closed() - closed });
  }
  return out;
}

function verbOf({ method, path }: Pick<SentRequest, 'method' | 'path'>): Verb {
  if (path.startsWith('/api/v1/nodes')) return 'getNode';
  return method === 'GET' ? 'get' : method === 'POST' ? 'create' : 'update';
}

function nameOf({ status, reason }: ApiError): Answer {
  if (status === 404) return 'notFound';
  if (status === 409) return reason === 'AlreadyExists' ? 'exists' : 'conflict';
  return 'error';
}

function leaseOf(body: unknown): JsonObject {
  const fields = (value: unknown): JsonObject => (isJsonObject(value) ? value : {});
  const { name, namespace, ownerReferences } = fields(fields(body)['metadata']);
  const { holderIdentity, leaseDurationSeconds, renewTime } = fields(fields(body)['spec']);
  return { name, namespace, ownerReferences, holderIdentity, leaseDurationSeconds, renewTime };
}
