/** Text of others' making on a line of a terminal: nothing in it steers the terminal, ends the line, or turns its direction. */
export const printable = (text: string): string => text.replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, '?');
