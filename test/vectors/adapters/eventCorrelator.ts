import { EventCorrelator } from '../../../src/cluster/events/event-correlator.ts';
import { ApiEventRecorder } from '../../../src/cluster/events/api-event-recorder.ts';
import { eventName } from '../../../src/model/event-name.ts';
import { EventQueue } from '../../../src/cluster/events/event-queue.ts';
import type { KubeEvent } from '../../../src/model/kube-event.ts';
import { isExpectedRefusal, sendEvent } from '../../../src/cluster/events/send-event.ts';
import { ApiError } from '../../../src/model/api-error.ts';
import type { EventReason } from '../../../src/ports/event-recorder.ts';
import type { ApiRequest, KubeApi } from '../../../src/ports/kube-api.ts';
import { silentLogger } from '../../../src/base/logger.ts';

interface Recorded {
  readonly atMs: number;
  readonly object: string;
  readonly fieldPath?: string;
  readonly source: string;
  readonly type: 'Normal' | 'Warning';
  readonly reason: EventReason;
  readonly message: string;
  readonly repeat?: number;
  readonly everyMs?: number;
  readonly numbered?: boolean;
  readonly forgetStored?: boolean;
}

const T0_MS = Date.parse('2021-02-03T04:05:06Z');

export async function run(input: readonly Recorded[]): Promise<unknown> {
  let nowMs = T0_MS;
  // The suite's clock stands still between two events, and so do the names that come from it.
  const nameEvent = (object: string): string => eventName(object, BigInt(nowMs) * 1_000_000n);
  const correlator = new EventCorrelator(nameEvent);
  const server = new EventServer();
  const out: unknown[] = [];
  for (const { atMs, object, fieldPath, source, type, reason, message, repeat = 1, everyMs = 0, numbered, forgetStored } of input) {
    if (forgetStored) server.events.clear();
    for (let i = 0; i < repeat; i++) {
      nowMs = T0_MS + atMs + i * everyMs;
      const queue = new EventQueue<KubeEvent>(1);
      const recorder = new ApiEventRecorder({
        clock: { now: () => nowMs },
        log: silentLogger,
        source: { component: source, host: 'node' },
        nameEvent,
        queue,
      });
      const about = {
        kind: 'Pod',
        apiVersion: 'v1',
        namespace: 'ns',
        name: object,
        uid: `uid-${object}`,
        ...(fieldPath ? { fieldPath } : {}),
      };
      recorder.record(about, type, reason, numbered ? `${message} ${i}` : message);
      const correlated = correlator.correlate(await queue.take(new AbortController().signal), { dateMs: nowMs, monotonicMs: nowMs });
      if (correlated.send === 'nothing') {
        out.push('skip');
        continue;
      }
      out.push(await server.receive((api) => sendEvent(api, correlated, new AbortController().signal)));
    }
  }
  return out;
}

/** The events of an API server, and the calls that came. */
class EventServer implements Pick<KubeApi, 'request'> {
  readonly events = new Map<string, KubeEvent>();
  #calls: object[] = [];
  #stored: KubeEvent | undefined;

  async receive(send: (api: Pick<KubeApi, 'request'>) => Promise<void>): Promise<unknown> {
    this.#calls = [];
    this.#stored = undefined;
    await send(this).catch((error) => {
      if (!isExpectedRefusal(error)) throw error;
    });
    const stored = this.#stored as KubeEvent | undefined;
    if (stored === undefined) return { calls: this.#calls };
    const { metadata, count, message, firstTimestamp, lastTimestamp } = stored;
    return { calls: this.#calls, stored: { name: metadata.name, count, message, firstTimestamp, lastTimestamp } };
  }

  request<T>({ method, path, body }: ApiRequest): Promise<T> {
    const verb = method === 'PATCH' ? 'patch' : 'create';
    const name = verb === 'patch' ? (path.split('/').at(-1) ?? '') : (body as KubeEvent).metadata.name;
    const before = this.events.get(name);
    const refusal = verb === 'patch' ? !before && 'NotFound' : before && 'AlreadyExists';
    this.#calls.push({ verb, ...(verb === 'patch' ? { patch: body } : {}), ...(refusal ? { result: refusal } : {}) });
    if (refusal) return Promise.reject(new ApiError(refusal === 'NotFound' ? 404 : 409, refusal, refusal));
    this.#stored = { ...before, ...(body as KubeEvent) };
    this.events.set(name, this.#stored);
    return Promise.resolve(this.#stored as T);
  }
}
