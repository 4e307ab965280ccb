const OFFSET_BASIS = 0x811c9dc5;
const PRIME = 0x01000193;

/** FNV-1a, 32 bit, over characters below 256; `hash`: of what comes before. As a signed number: `>>> 0` makes it the hash. */
export function fnv1a(text: string, hash = OFFSET_BASIS): number {
  let h = hash;
  for (let i = 0; i < text.length; i++) h = Math.imul(h ^ text.charCodeAt(i), PRIME);
  return h;
}
