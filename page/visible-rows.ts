export interface RowWindow {
  /** From the first up to, but not including, the end. */
  readonly first: number;
  readonly end: number;
}

export interface Scrolled {
  readonly count: number;
  readonly rowPx: number;
  /** Where the list begins, from the top of what is seen; negative: it is scrolled past. */
  readonly topPx: number;
  readonly seenPx: number;
}

/** Rows beyond what is seen, so that the next one is there before it is scrolled to, or gets the focus. */
const BEYOND = 4;

/** Which rows of a long list are seen: the others are not drawn. */
export function visibleRows({ count, rowPx, topPx, seenPx }: Scrolled): RowWindow {
  const first = Math.max(0, Math.min(count, Math.floor(-topPx / rowPx) - BEYOND));
  const end = Math.max(first, Math.min(count, Math.ceil((seenPx - topPx) / rowPx) + BEYOND));
  return { first, end };
}
