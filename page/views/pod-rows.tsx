import { Component, type JSX } from 'preact';
import { useRef, useState } from 'preact/hooks';
import type { ExplainedInShort } from '../../src/model/explanation.ts';
import { counted, sentence, shown } from '../format.ts';
import { keyOf } from '../live.ts';
import { podLink } from '../route.ts';
import { PullBar } from './pull-bar.tsx';
import { StateMark } from './state-mark.tsx';
import { Since, Until } from './times.tsx';
import { useMedia } from './use-media.ts';
import { useRowWindow } from './use-row-window.ts';

const ROW_PX = 52;
const NARROW_ROW_PX = 92;

/** A row a pod; only those that are seen are drawn, and the one that has the focus. */
export function PodRows({ pods }: { readonly pods: readonly ExplainedInShort[] }): JSX.Element {
  const list = useRef<HTMLDivElement>(null);
  const [focused, setFocused] = useState<string>();
  const rowPx = useMedia('(max-width: 700px)') ? NARROW_ROW_PX : ROW_PX;
  const { first, end } = useRowWindow(list, pods.length, rowPx);
  const rows = pods.flatMap((pod, at) => ((at >= first && at < end) || keyOf(pod) === focused ? [{ pod, at }] : []));
  return (
    <div class="pods" role="table" aria-label="Pods" aria-rowcount={pods.length + 1}>
      <div class="pods-head" role="row" aria-rowindex={1}>
        {['State', 'Pod', 'Why', 'Restarts', 'Since'].map((name) => (
          <span key={name} role="columnheader">
            {name}
          </span>
        ))}
      </div>
      <div
        ref={list}
        role="rowgroup"
        class="pods-rows"
        style={{ height: `${pods.length * rowPx}px` }}
        onFocusIn={(event) => setFocused(rowKey(event.target))}
        onFocusOut={() => setFocused(undefined)}
      >
        {rows.map(({ pod, at }) => (
          <PodRow key={keyOf(pod)} pod={pod} at={at} topPx={at * rowPx} />
        ))}
      </div>
    </div>
  );
}

const rowKey = (target: EventTarget | null): string | undefined =>
  target instanceof Element ? (target.closest<HTMLElement>('[data-key]')?.dataset['key'] ?? undefined) : undefined;

interface PodRowProps {
  readonly pod: ExplainedInShort;
  readonly at: number;
  readonly topPx: number;
}

/** Drawn again only where something of it has changed. */
class PodRow extends Component<PodRowProps> {
  override shouldComponentUpdate(next: PodRowProps): boolean {
    const { pod, at, topPx } = this.props;
    return next.pod !== pod || next.at !== at || next.topPx !== topPx;
  }

  override render({ pod, at, topPx }: PodRowProps): JSX.Element {
    const [namespace = '', name = ''] = shown(pod.pod).split('/');
    return (
      <div class="pod-row" role="row" aria-rowindex={at + 2} data-key={keyOf(pod)} style={{ transform: `translateY(${topPx}px)` }}>
        <span role="cell" class="cell-state">
          <StateMark state={pod.state} />
        </span>
        <span role="cell" class="cell-pod">
          <a href={podLink(pod.pod)} title={`${namespace}/${name}`}>
            {name}
          </a>
          <span class="muted">{namespace}</span>
        </span>
        <span role="cell" class="cell-why">
          <Why pod={pod} />
        </span>
        <span role="cell" class="cell-restarts">
          {pod.restarts > 0 && <span title={counted(pod.restarts, 'restart')}>{pod.restarts}</span>}
        </span>
        <span role="cell" class="cell-since">
          {pod.sinceMs !== undefined && <Since atMs={pod.sinceMs} />}
        </span>
      </div>
    );
  }
}

/** The true cause, and when it is over or tried again; of a pod that is well, its phase. */
export function Why({ pod: { cause, pull, phase } }: { readonly pod: ExplainedInShort }): JSX.Element {
  if (pull && (pull.stage === 'begun' || pull.stage === 'under way')) return <PullBar pull={pull} />;
  if (!cause) return <span class="muted">{phase ?? ''}</span>;
  const text = sentence(shown(cause.text));
  return (
    <span class="why" title={text}>
      {text}
      {cause.untilMs !== undefined && (
        <span class="muted">
          {' · '}
          {cause.kind === 'wait' ? 'over ' : 'again '}
          <Until atMs={cause.untilMs} />
        </span>
      )}
    </span>
  );
}
