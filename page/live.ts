import type { ExplainedInShort, ExplainedNode } from '../src/model/explanation.ts';
import type { StreamEntry } from '../src/model/stream-entry.ts';
import { AgentApi, AgentError, type Answer } from './agent/agent-api.ts';
import { backoffMs } from './agent/backoff.ts';
import { Coalesced } from './agent/coalesced.ts';
import { sleep } from './agent/sleep.ts';
import { kept } from './kept.ts';
import type { PageState } from './page-state.ts';
import { PodWatch } from './pod-watch.ts';
import type { Store } from './store.ts';

/** Of what happened, so much is kept to be shown. */
const MOST_ENTRIES = 1_000;
/** What happened before the page was opened. */
const PAST_ENTRIES = 200;
const PODS_LEAST_MS = 1_000;
/** Also where nothing happens: what is waited for ends by itself. */
const PODS_EVERY_MS = 10_000;
const NODE_EVERY_MS = 10_000;

/** Keeps what is shown up to date: follows the agent's timeline, asks again for what has changed, and connects again when the agent has gone. */
export class Live {
  readonly api: AgentApi;
  readonly #store: Store<PageState>;
  #token: string | undefined;
  #lastSeq = 0;
  #retry = new AbortController();
  #pods: Coalesced | undefined;
  #pod: PodWatch | undefined;

  constructor(store: Store<PageState>) {
    this.#store = store;
    this.api = new AgentApi(() => this.#token);
  }

  /** Until the signal aborts. `looked` resolves while somebody looks at the page: else it asks for nothing. */
  async run(looked: (signal: AbortSignal) => Promise<void>, signal: AbortSignal): Promise<void> {
    for (let failures = 0; !signal.aborted; failures++) {
      await looked(signal);
      this.#retry = new AbortController();
      try {
        await this.#connected(AbortSignal.any([signal, this.#retry.signal]), () => {
          failures = 0;
        });
        if (signal.aborted || this.#retry.signal.aborted) continue;
        throw new AgentError('the agent has ended');
      } catch (error) {
        if (signal.aborted || this.#retry.signal.aborted) continue;
        await this.#wait(error, failures + 1, signal);
      }
    }
  }

  /** Breaks off what is under way, and tries at once. */
  retry(): void {
    this.#retry.abort();
  }

  signIn(token: string): void {
    this.#token = token;
    this.#store.set({ connection: { is: 'connecting' } });
    this.retry();
  }

  /** This pod is looked at now; undefined: none is. */
  lookAt(pod: string | undefined): void {
    this.#pod?.close();
    this.#pod = pod === undefined ? undefined : new PodWatch(pod, this.api, this.#store);
    if (pod === undefined) this.#store.set({ detail: undefined });
    else if (this.#store.state.connection.is === 'live') this.#pod?.refresh();
  }

  async #connected(signal: AbortSignal, onLive: () => void): Promise<void> {
    const own = new AbortController();
    const until = AbortSignal.any([signal, own.signal]);
    this.#pods = new Coalesced(PODS_LEAST_MS, until, (within) => this.#askPods(within));
    const node = new Coalesced(0, until, (within) => this.#askNode(within));
    try {
      await this.api.lines(
        `timeline?follow=true&limit=${PAST_ENTRIES}`,
        {
          onOpen: () => {
            onLive();
            this.#store.set({ connection: { is: 'live' } });
            this.#pods?.ask();
            this.#pod?.refresh();
            node.ask();
            void this.#askNowAndThen(node, until);
          },
          onLines: (lines) => this.#happened(lines.filter((line) => line !== '').map((line): StreamEntry => JSON.parse(line))),
        },
        until,
      );
    } finally {
      own.abort();
    }
  }

  async #askNowAndThen(node: Coalesced, signal: AbortSignal): Promise<void> {
    for (let rounds = 1; !signal.aborted; rounds++) {
      await sleep(PODS_LEAST_MS, signal);
      const { pods = [] } = this.#store.state;
      // A pull moves without anything happening.
      if (rounds % (PODS_EVERY_MS / PODS_LEAST_MS) === 0 || pods.some(({ pull }) => pull?.stage === 'under way')) this.#pods?.ask();
      if (rounds % (NODE_EVERY_MS / PODS_LEAST_MS) === 0) node.ask();
    }
  }

  #happened(entries: readonly StreamEntry[]): void {
    const last = entries.at(-1);
    if (last === undefined) return;
    const { state } = this.#store;
    // An agent that was started again and keeps nothing counts from one.
    if (last.seq < this.#lastSeq && last.atMs > (state.entries.at(-1)?.atMs ?? 0)) this.#lastSeq = 0;
    const news = entries.filter(({ seq }) => seq > this.#lastSeq);
    if (news.length === 0) return;
    this.#lastSeq = last.seq;
    const all = [...state.entries, ...news];
    this.#store.set({ entries: all.slice(Math.max(0, all.length - MOST_ENTRIES)) });
    if (state.connection.is === 'live') this.#pods?.ask();
    this.#pod?.happened(news);
  }

  async #askPods(signal: AbortSignal): Promise<void> {
    const answer = await this.#asked<{ readonly items: readonly ExplainedInShort[] }>('explain', signal);
    if (answer === undefined) return;
    const { pods } = this.#store.state;
    this.#store.set({ pods: kept(pods, answer.value.items, keyOf), aheadMs: answer.aheadMs });
  }

  async #askNode(signal: AbortSignal): Promise<void> {
    const answer = await this.#asked<ExplainedNode>('explain-node', signal);
    if (answer !== undefined) this.#store.set({ node: answer.value });
  }

  /** Undefined: not now; the stream says when the agent has gone. */
  async #asked<T>(path: string, signal: AbortSignal): Promise<Answer<T> | undefined> {
    try {
      return await this.api.json<T>(path, signal);
    } catch (error) {
      if (!signal.aborted && error instanceof AgentError && (error.status === 401 || error.status === 403)) this.retry();
      return undefined;
    }
  }

  async #wait(error: unknown, failures: number, signal: AbortSignal): Promise<void> {
    const why = error instanceof Error ? error.message : String(error);
    const status = error instanceof AgentError ? error.status : undefined;
    const again = AbortSignal.any([signal, this.#retry.signal]);
    if (status === 401 || status === 403) {
      this.#store.set({ connection: { is: 'refused', status, why } });
      await sleep(2 ** 31 - 1, again);
      return;
    }
    const { connection } = this.#store.state;
    const waitMs = backoffMs(failures, Math.random());
    const sinceMs = connection.is === 'lost' ? connection.sinceMs : Date.now();
    this.#store.set({ connection: { is: 'lost', sinceMs, why, nextTryMs: Date.now() + waitMs } });
    await sleep(waitMs, again);
  }
}

/** A manifest that makes no pod has no uid. */
export const keyOf = ({ pod, uid, where = '' }: ExplainedInShort): string => uid ?? `${pod} ${where}`;
