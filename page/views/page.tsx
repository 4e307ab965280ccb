import type { JSX } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { counted, shown } from '../format.ts';
import type { Live } from '../live.ts';
import type { PageState, Route } from '../page-state.ts';
import { countsOf } from '../sort-pods.ts';
import type { Store } from '../store.ts';
import { ConnectionBar } from './connection-bar.tsx';
import { NodeView } from './node-view.tsx';
import { PlanView } from './plan-view.tsx';
import { PodView } from './pod-view.tsx';
import { PodsView } from './pods-view.tsx';
import { StreamView } from './stream-view.tsx';
import { AheadMs } from './times.tsx';

export interface PageProps {
  readonly state: PageState;
  readonly store: Store<PageState>;
  readonly live: Live;
}

const sections = [
  ['pods', 'Pods'],
  ['node', 'Node'],
  ['stream', 'Events'],
  ['plan', 'Plan'],
] as const;

/** The whole page. */
export function Page({ state, store, live }: PageProps): JSX.Element {
  const { connection, route, node, aheadMs } = state;
  const main = useRef<HTMLElement>(null);
  const place = JSON.stringify(route);
  const first = useRef(place);
  useEffect(() => {
    // Who follows a link reads on from the new heading.
    if (first.current === place) return;
    first.current = '';
    window.scrollTo(0, 0);
    main.current?.querySelector('h1')?.focus({ preventScroll: true });
  }, [place]);
  return (
    <AheadMs.Provider value={aheadMs}>
      <a class="skip" href="#main" onClick={(event) => skip(event, main.current)}>
        To the content
      </a>
      <header class="top">
        <div class="top-in">
          <span class="brand">
            <img src="page/icon.svg" alt="" width="24" height="24" />
            rxlet
          </span>
          <NodeName node={node} isLive={connection.is === 'live'} />
          <nav aria-label="Page">
            {sections.map(([view, name]) => (
              <a key={view} href={`#${view}`} aria-current={isIn(route, view) ? 'page' : undefined}>
                {name}
              </a>
            ))}
          </nav>
        </div>
      </header>
      <ConnectionBar connection={connection} onRetry={() => live.retry()} onSignIn={(token) => live.signIn(token)} />
      <main id="main" ref={main} tabIndex={-1} class={connection.is === 'lost' ? 'stale' : undefined}>
        <View state={state} store={store} live={live} />
      </main>
      <p class="visually-hidden" role="status">
        {newsOf(state)}
      </p>
    </AheadMs.Provider>
  );
}

function View({ state, store, live }: PageProps): JSX.Element {
  const { route } = state;
  switch (route.view) {
    case 'pod':
      return <PodView pod={route.pod} detail={state.detail} />;
    case 'node':
      return <NodeView node={state.node} api={live.api} isLive={state.connection.is === 'live'} />;
    case 'stream':
      return <StreamView entries={state.entries} />;
    case 'plan':
      return <PlanView api={live.api} />;
    case 'pods':
      return <PodsView pods={state.pods} filter={state.filter} onFilter={(filter) => store.set({ filter })} />;
    default:
      return route satisfies never;
  }
}

function NodeName({ node, isLive }: { readonly node: PageState['node']; readonly isLive: boolean }): JSX.Element {
  return (
    <span class="node-name">
      {node !== undefined && (
        <>
          <span class={`dot ${node.ready ? 'dot-well' : 'dot-sick'}`} aria-hidden="true" />
          <b>{shown(node.name)}</b> <span class="muted">{node.ready ? 'ready' : 'not ready'}</span>
        </>
      )}
      {isLive && <span class="live">live</span>}
    </span>
  );
}

const isIn = (route: Route, view: string): boolean => route.view === view || (route.view === 'pod' && view === 'pods');

/** The fragment names what is shown: a jump must not change it. */
function skip(event: Event, main: HTMLElement | null): void {
  event.preventDefault();
  main?.focus();
}

/** What a reader of the screen hears of: that the agent has gone or is back, and how many pods are not well. */
function newsOf({ connection, pods }: PageState): string {
  if (connection.is === 'lost') return 'The agent is gone. It is tried again.';
  if (connection.is !== 'live' || pods === undefined) return '';
  const sick = countsOf(pods).find(([state]) => state === 'sick')?.[1] ?? 0;
  return sick === 0 ? 'No pod is sick.' : `${counted(sick, 'pod')} sick.`;
}
