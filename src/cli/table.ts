import { printable } from '../base/printable.ts';

const GAP = 3;

/** Columns aligned as kubectl aligns them: three blanks between, nothing after the last. Cells hold no control characters. */
export function table(
  header: readonly string[],
  rows: readonly (readonly string[])[],
  paint: (cell: string, column: string) => string = (cell) => cell,
): string {
  const clean = rows.map((row) => row.map(printable));
  const widths = header.map((name, column) => Math.max(name.length, ...clean.map((row) => (row[column] ?? '').length)));
  const line = (cells: readonly string[], painted: boolean): string =>
    cells
      .map((cell, column) => {
        const shown = painted ? paint(cell, header[column] ?? '') : cell;
        return column === cells.length - 1 ? shown : shown + ' '.repeat((widths[column] ?? 0) - cell.length + GAP);
      })
      .join('');
  return [line(header, false), ...clean.map((row) => line(row, true))].map((text) => `${text}\n`).join('');
}
