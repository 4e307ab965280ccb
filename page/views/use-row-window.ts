import type { RefObject } from 'preact';
import { useLayoutEffect, useState } from 'preact/hooks';
import { type RowWindow, visibleRows } from '../visible-rows.ts';

/** Which rows of the list in `list` are seen now. It moves with the window's scrolling, once a frame. */
export function useRowWindow(list: RefObject<HTMLElement | null>, count: number, rowPx: number): RowWindow {
  const [window_, setWindow] = useState<RowWindow>({ first: 0, end: Math.min(count, 30) });
  useLayoutEffect(() => {
    let frame = 0;
    const look = (): void => {
      frame = 0;
      const top = list.current?.getBoundingClientRect().top ?? 0;
      const next = visibleRows({ count, rowPx, topPx: top, seenPx: window.innerHeight });
      setWindow((before) => (before.first === next.first && before.end === next.end ? before : next));
    };
    const soon = (): void => {
      if (frame === 0) frame = requestAnimationFrame(look);
    };
    look();
    window.addEventListener('scroll', soon, { passive: true });
    window.addEventListener('resize', soon);
    return () => {
      cancelAnimationFrame(frame);
      window.removeEventListener('scroll', soon);
      window.removeEventListener('resize', soon);
    };
  }, [list, count, rowPx]);
  return { first: Math.min(window_.first, count), end: Math.min(window_.end, count) };
}
