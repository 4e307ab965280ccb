import { render } from 'preact';
import { Live } from './live.ts';
import { firstState, type PageState } from './page-state.ts';
import { routeOf } from './route.ts';
import { Store } from './store.ts';
import { Page } from './views/page.tsx';

const root = document.querySelector('#page');
if (root === null) throw new Error('page.html has no element for the page');

const store: Store<PageState> = new Store<PageState>(
  { ...firstState, route: routeOf(location.hash) },
  (state) => {
    const focused = document.activeElement;
    render(<Page state={state} store={store} live={live} />, root);
    // What is moved among its siblings loses the focus.
    if (focused instanceof HTMLElement && focused.isConnected && document.activeElement === document.body)
      focused.focus({ preventScroll: true });
    const sick = state.pods?.filter((pod) => pod.state === 'sick').length ?? 0;
    document.title = `${sick > 0 ? `${sick} sick · ` : ''}${state.node?.name ?? 'node'} · rxlet`;
  },
  (callback) => requestAnimationFrame(callback),
);
const live = new Live(store);

function follow(): void {
  const route = routeOf(location.hash);
  store.set({ route });
  live.lookAt(route.view === 'pod' ? route.pod : undefined);
}

async function looked(signal: AbortSignal): Promise<void> {
  while (document.hidden && !signal.aborted) {
    await new Promise<void>((resolve) => document.addEventListener('visibilitychange', () => resolve(), { once: true, signal }));
  }
}

addEventListener('hashchange', follow);
document.addEventListener('visibilitychange', () => {
  if (document.hidden) live.retry();
});
follow();
await live.run(looked, new AbortController().signal);
