import type { Explanation } from '../src/model/explanation.ts';
import type { StreamEntry } from '../src/model/stream-entry.ts';
import { type AgentApi, AgentError } from './agent/agent-api.ts';
import { Coalesced } from './agent/coalesced.ts';
import type { PageState, PodDetail } from './page-state.ts';
import { pathOf } from './route.ts';
import type { Store } from './store.ts';

/** What a container wrote last is read for each answer: not too often. */
const LEAST_MS = 2_000;
const MOST_ENTRIES = 3_000;

/** Keeps one pod's explanation and story up to date. */
export class PodWatch {
  readonly #pod: string;
  readonly #api: AgentApi;
  readonly #store: Store<PageState>;
  readonly #closing = new AbortController();
  readonly #explain: Coalesced;
  readonly #past: Coalesced;
  /** What happened while the past was asked for. */
  #news: readonly StreamEntry[] = [];

  constructor(pod: string, api: AgentApi, store: Store<PageState>) {
    this.#pod = pod;
    this.#api = api;
    this.#store = store;
    this.#explain = new Coalesced(LEAST_MS, this.#closing.signal, (signal) => this.#askExplanation(signal));
    this.#past = new Coalesced(LEAST_MS, this.#closing.signal, (signal) => this.#askPast(signal));
    store.set({ detail: { pod, explanations: { is: 'loading' }, past: { is: 'loading' } } });
  }

  /** All of it: the agent is another one, perhaps. */
  refresh(): void {
    this.#explain.ask();
    this.#past.ask();
  }

  happened(entries: readonly StreamEntry[]): void {
    const own = entries.filter(({ pod }) => pod === this.#pod);
    if (own.length === 0) return;
    this.#explain.ask();
    const past = this.#store.state.detail?.past;
    if (past?.is === 'here') this.#change({ past: { is: 'here', value: joined(past.value, own) } });
    else this.#news = [...this.#news, ...own].slice(-MOST_ENTRIES);
  }

  close(): void {
    this.#closing.abort();
  }

  async #askExplanation(signal: AbortSignal): Promise<void> {
    try {
      const { value } = await this.#api.json<{ readonly items: readonly Explanation[] }>(`explain/${pathOf(this.#pod)}`, signal);
      this.#change({ explanations: { is: 'here', value: value.items } });
    } catch (error) {
      // What was known stays; the page says that the agent has gone.
      if (signal.aborted || !(error instanceof AgentError) || error.status === undefined) return;
      this.#change({ explanations: { is: 'failed', why: error.message } });
    }
  }

  async #askPast(signal: AbortSignal): Promise<void> {
    const entries: StreamEntry[] = [];
    try {
      await this.#api.lines(
        `timeline?pod=${encodeURIComponent(this.#pod)}&limit=${MOST_ENTRIES}`,
        { onOpen: () => {}, onLines: (lines) => entries.push(...lines.map((line): StreamEntry => JSON.parse(line))) },
        signal,
      );
      this.#change({ past: { is: 'here', value: joined(entries, this.#news) } });
      this.#news = [];
    } catch (error) {
      if (signal.aborted || !(error instanceof AgentError) || error.status === undefined) return;
      this.#change({ past: { is: 'failed', why: error.message } });
    }
  }

  #change(change: Partial<PodDetail>): void {
    const { detail } = this.#store.state;
    if (this.#closing.signal.aborted || detail?.pod !== this.#pod) return;
    this.#store.set({ detail: { ...detail, ...change } });
  }
}

/** Each entry once, in the order of their times: numbers begin again with an agent that keeps nothing. */
function joined(before: readonly StreamEntry[], more: readonly StreamEntry[]): readonly StreamEntry[] {
  const last = before.at(-1);
  const news = last === undefined ? more : more.filter(({ seq, atMs }) => seq > last.seq || atMs > last.atMs);
  return [...before, ...news].slice(-MOST_ENTRIES);
}
