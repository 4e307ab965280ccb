// Named, as the bundle gives the CommonJS package's own namespace only a default.
export { isAlias, isMap, isNode, isScalar, isSeq } from 'yaml';
export { readYamlDocument } from '../base/yaml-document.ts';
export type { Document } from 'yaml';
