import { CST, Lexer } from 'yaml';

/**
 * Where a tab stands as libyaml looks for a key or a dash, before which only spaces may stand (yaml_parser_scan_to_next_token): outside of
 * brackets, at the start of a line or behind a dash. The blank lines behind a plain scalar belong to it, beyond the indentation of the key
 * or dash that it is the value of. Undefined when nowhere in the first document.
 */
export function misplacedTab(text: string): number | undefined {
  if (!text.includes('\t')) return undefined;
  let at = 0;
  let lineAt = 0;
  let depth = 0;
  let keyMayBegin = true;
  let keyColumn = 0;
  let indent = 0;
  let previous = '';
  let begun = false;
  for (const token of new Lexer().lex(text)) {
    if (token === CST.DOCUMENT || token === CST.FLOW_END) continue;
    const type = previous === 'scalar' ? 'text' : (CST.tokenType(token) ?? 'text');
    if (type === 'doc-end' || (type === 'doc-start' && begun)) return undefined;
    const column = at - lineAt;
    if (type === 'space') {
      const tab = token.indexOf('\t');
      if (tab !== -1 && depth === 0 && keyMayBegin && (previous !== 'text' || column + tab <= indent)) return at + tab;
    } else if (type === 'newline') keyMayBegin = true;
    else {
      begun ||= type !== 'comment' && type !== 'directive-line' && type !== 'byte-order-mark';
      if (keyMayBegin) keyColumn = column;
      if (type === 'seq-item-ind' && depth === 0) indent = column;
      if (type === 'map-value-ind' && depth === 0) indent = keyColumn;
      keyMayBegin = type === 'seq-item-ind' || type === 'explicit-key-ind' || token.endsWith('\n');
      if (type === 'flow-map-start' || type === 'flow-seq-start') depth++;
      if (type === 'flow-map-end' || type === 'flow-seq-end') depth--;
      previous = type;
    }
    // A scalar's text follows a mark that is no part of the whole.
    if (type === 'scalar') continue;
    at += token.length;
    if (token.includes('\n')) lineAt = at - token.length + token.lastIndexOf('\n') + 1;
  }
  return undefined;
}
