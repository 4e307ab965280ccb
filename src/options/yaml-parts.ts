// Named, as the bundle gives the CommonJS package's own namespace only a default.
export { isAlias, isMap, isNode, isScalar, isSeq, LineCounter, parseDocument } from 'yaml';
export type { Document } from 'yaml';
