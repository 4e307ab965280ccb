import { Component, type JSX } from 'preact';
import { useRef, useState } from 'preact/hooks';
import type { StreamEntry } from '../../src/model/stream-entry.ts';
import { entryWords, isLoud } from '../entry-words.ts';
import { exactTime, shown } from '../format.ts';
import { podLink } from '../route.ts';
import { useMedia } from './use-media.ts';
import { useRowWindow } from './use-row-window.ts';

const ROW_PX = 30;
const NARROW_ROW_PX = 64;

/** What happens in the agent, as it happens, the newest first. */
export function StreamView({ entries }: { readonly entries: readonly StreamEntry[] }): JSX.Element {
  const [text, setText] = useState('');
  const [held, setHeld] = useState<readonly StreamEntry[]>();
  const list = useRef<HTMLOListElement>(null);
  const rowPx = useMedia('(max-width: 700px)') ? NARROW_ROW_PX : ROW_PX;
  const words = text
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== '');
  const all = (held ?? entries).filter((entry) => {
    if (words.length === 0) return true;
    const line = `${entry.stream} ${entry.pod ?? ''} ${String(entry.level)} ${entryWords(entry)}`.toLowerCase();
    return words.every((word) => line.includes(word));
  });
  const { first, end } = useRowWindow(list, all.length, rowPx);
  const rows = Array.from({ length: end - first }, (_, at) => ({ at: first + at, entry: all[all.length - 1 - first - at] }));
  return (
    <>
      <h1 tabIndex={-1}>What happens</h1>
      <div class="pods-bar">
        <button type="button" aria-pressed={held !== undefined} onClick={() => setHeld(held === undefined ? entries : undefined)}>
          {held === undefined ? 'Pause' : 'Go on'}
        </button>
        <span class="muted">
          {all.length} of the last {(held ?? entries).length}
        </span>
        <label class="search">
          <span class="visually-hidden">Find what happened</span>
          <input
            type="search"
            placeholder="Find a pod, a stream, words"
            value={text}
            onInput={(event) => setText(event.currentTarget.value)}
          />
        </label>
      </div>
      {all.length === 0 ? (
        <div class="empty">
          <p>{entries.length === 0 ? 'Nothing has happened yet.' : 'Nothing of that.'}</p>
        </div>
      ) : (
        <ol ref={list} class="stream" style={{ height: `${all.length * rowPx}px` }} aria-label="Newest first">
          {rows.map(({ at, entry }) => entry && <EntryRow key={entry.seq} entry={entry} topPx={at * rowPx} />)}
        </ol>
      )}
    </>
  );
}

interface EntryRowProps {
  readonly entry: StreamEntry;
  readonly topPx: number;
}

/** An entry never changes: it moves. */
class EntryRow extends Component<EntryRowProps> {
  override shouldComponentUpdate({ topPx, entry }: EntryRowProps): boolean {
    return topPx !== this.props.topPx || entry !== this.props.entry;
  }

  override render({ entry, topPx }: EntryRowProps): JSX.Element {
    const line = shown(entryWords(entry));
    return (
      <li class={isLoud(entry) ? 'entry loud' : 'entry'} style={{ transform: `translateY(${topPx}px)` }}>
        <span class="mono muted">{exactTime(entry.atMs)}</span>
        <span class="tag">{shown(entry.stream)}</span>
        {entry.pod === undefined ? <span /> : <a href={podLink(entry.pod)}>{shown(entry.pod)}</a>}
        <span class="entry-words" title={line}>
          {line}
        </span>
      </li>
    );
  }
}
