/** JSON that says the same, and that no terminal takes orders from: nothing in it steers the terminal, or turns the text's direction. */
export const harmlessJson = (json: string): string =>
  json.replace(/[\u007F-\u009F\p{Cf}\p{Zl}\p{Zp}]/gu, (found) =>
    Array.from({ length: found.length }, (_, i) => String.raw`\u${found.charCodeAt(i).toString(16).padStart(4, '0')}`).join(''),
  );
