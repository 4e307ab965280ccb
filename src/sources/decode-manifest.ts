import { isUtf8 } from 'node:buffer';
import type { ManifestFault, ManifestWarning } from '../model/manifest-fault.ts';
import type { RawPod } from '../model/pod.ts';
import { decodeObject } from './decode-object.ts';
import { type DocumentNode, DocumentSyntaxError, type MapNode, type ParsedDocument } from './document.ts';
import { locator, offsetOfField, type Position } from './locate.ts';
import { MAX_MANIFEST_BYTES } from './max-manifest-bytes.ts';
import { type ManifestObjectResult, readManifestObject } from './read-manifest-object.ts';
import { manifestKind, type ManifestKind } from './object-kind.ts';
import { parseJson } from './parse-json.ts';
import { parseYaml } from './parse-yaml.ts';
import { type PodSchema, podSchema } from './pod-schema.ts';

/** One pod of a manifest. */
export interface DecodedPod {
  /** As on the wire, before any defaulting. Undefined when there are faults. */
  readonly pod: RawPod | undefined;
  /** As far as they can be read, also of a faulty pod. */
  readonly name: string;
  readonly namespace: string;
  readonly faults: readonly ManifestFault[];
  readonly warnings: readonly ManifestWarning[];
  /** See DecodedObject: what a hash of the pod has to count, and the pod no longer shows. */
  readonly asWritten: readonly string[];
  /** Where a field of this pod stands in the text, or what is nearest to it. */
  readonly locate: (field: string) => Position;
}

export interface DecodedManifest {
  /** One, or those of a PodList. */
  readonly pods: readonly DecodedPod[];
  /** ConfigMaps and Secrets. */
  readonly objects: readonly ManifestObjectResult[];
  /** Why there is no pod to speak of. */
  readonly faults: readonly ManifestFault[];
  readonly warnings: readonly ManifestWarning[];
}

export interface DecodeOptions {
  /** A PodList will do. */
  readonly allowList?: boolean;
  /** So will a ConfigMap, a Secret, or a List of them. */
  readonly allowObjects?: boolean;
}

export type DecodeManifest = (manifest: Uint8Array, options?: DecodeOptions) => DecodedManifest;

/** Text to pods, as a kubelet decodes static pods (tryDecodeSinglePod, tryDecodePodList). Never throws on any text. */
export function manifestDecoder(): DecodeManifest {
  const schema = podSchema();
  return (manifest, { allowList = false, allowObjects = false } = {}) => {
    const wanted: readonly ManifestKind[] = ['Pod', ...(allowList ? ['PodList' as const] : []), ...(allowObjects ? objectKinds : [])];
    if (manifest.byteLength > MAX_MANIFEST_BYTES) {
      return refused({ type: 'unreadable', field: '', detail: `longer than ${MAX_MANIFEST_BYTES} bytes`, line: 1, column: 1 });
    }
    const text = new TextDecoder().decode(manifest);
    const locate = locator(text);
    let document: ParsedDocument;
    try {
      document = parseDocument(text, manifest);
    } catch (error) {
      if (!(error instanceof DocumentSyntaxError)) throw error;
      const detail = /Secret/.test(text) ? withoutQuotes(error.message) : error.message;
      return refused({ type: error.format, field: '', detail, ...locate(error.at) });
    }
    const warnings = document.warnings.map(({ at, detail }) => ({ field: '', detail, ...locate(at) }));
    const kind = manifestKind(document.root, wanted);
    if (typeof kind !== 'string') return { ...refused({ ...kind, ...locate(kind.at) }), warnings };
    const { root } = document;
    if (root.is !== 'map') return { pods: [], objects: [], faults: [], warnings };
    switch (kind) {
      case 'Pod':
        return { pods: [decodePod(schema, root, locate)], objects: [], faults: [], warnings };
      case 'PodList':
        return { ...decodeItems(schema, root, locate), warnings };
      case 'ConfigMap':
      case 'Secret':
        return { pods: [], objects: [readManifestObject(kind, root, schema, locate)], faults: [], warnings };
      case 'List':
        return { ...decodeObjects(schema, root, locate), warnings };
    }
    return kind satisfies never;
  };
}

const objectKinds: readonly ManifestKind[] = ['ConfigMap', 'Secret', 'List'];

/** What a parser quotes may be a password. */
const withoutQuotes = (message: string): string => message.replaceAll(/"(?:[^"\\]|\\.)*"/g, 'this');

const refused = ({ type, field, detail, line, column }: ManifestFault): DecodedManifest => {
  const fault = { type, field, detail, line, column } as ManifestFault;
  return { pods: [], objects: [], faults: [fault], warnings: [] };
};

/** What begins with a brace is JSON and nothing else (apimachinery/pkg/util/yaml ToJSON). */
function parseDocument(text: string, manifest: Uint8Array): ParsedDocument {
  const hasByteOrderMark = manifest[0] === 0xef && manifest[1] === 0xbb && manifest[2] === 0xbf;
  if (!hasByteOrderMark && /^[\s\u0085]*\{/.test(text)) return parseJson(text);
  if (!isUtf8(manifest)) throw new DocumentSyntaxError('yaml', Math.max(0, text.indexOf('\ufffd')), 'invalid UTF-8');
  return parseYaml(text);
}

function decodeItems(schema: PodSchema, list: MapNode, locate: (at: number) => Position): Omit<DecodedManifest, 'warnings'> {
  const { items: itemsEntry, ...own } = Object.fromEntries(list.entries);
  const { faults } = decodeObject(schema, 'PodList', { ...list, entries: new Map(Object.entries(own)) });
  const [fault] = faults;
  if (fault !== undefined) return refused({ ...fault, ...locate(fault.at) });
  const items = itemsEntry?.value;
  if (items === undefined || items.is === 'null') return { pods: [], objects: [], faults: [] };
  if (items.is !== 'list') {
    return refused({ type: 'type', field: 'items', detail: 'expected a list of pods', ...locate(items.at) });
  }
  const pods = items.items.map((item, i) => {
    if (item.is === 'map') return decodePod(schema, item, locate);
    // A pod of which nothing is said.
    if (item.is === 'null') return decodePod(schema, { is: 'map', at: item.at, entries: new Map() }, locate);
    const fault: ManifestFault = { type: 'type', field: `items[${i}]`, detail: `expected a pod, found ${item.is}`, ...locate(item.at) };
    return { pod: undefined, name: '', namespace: '', faults: [fault], warnings: [], asWritten: [], locate: () => locate(item.at) };
  });
  return { pods, objects: [], faults: [] };
}

/** A List as kubectl prints it, of ConfigMaps and Secrets. */
function decodeObjects(schema: PodSchema, list: MapNode, locate: (at: number) => Position): Omit<DecodedManifest, 'warnings'> {
  const items = list.entries.get('items')?.value;
  if (items === undefined || items.is === 'null') return { pods: [], objects: [], faults: [] };
  if (items.is !== 'list') return refused({ type: 'type', field: 'items', detail: 'expected a list of objects', ...locate(items.at) });
  const faults: ManifestFault[] = [];
  const objects = items.items.flatMap((item, i): readonly ManifestObjectResult[] => {
    const kind = manifestKind(item, ['ConfigMap', 'Secret']);
    if ((kind === 'ConfigMap' || kind === 'Secret') && item.is === 'map') return [readManifestObject(kind, item, schema, locate)];
    if (typeof kind !== 'string')
      faults.push({ type: kind.type, field: `items[${i}].${kind.field}`, detail: kind.detail, ...locate(kind.at) });
    return [];
  });
  return { pods: [], objects, faults };
}

function decodePod(schema: PodSchema, root: MapNode, locate: (at: number) => Position): DecodedPod {
  const { value, faults, warnings, asWritten } = decodeObject(schema, 'Pod', root);
  const metadata = root.entries.get('metadata')?.value;
  // The kind has done its work.
  const { apiVersion: _version, kind: _kind, ...pod } = value;
  return {
    pod: faults.length === 0 ? pod : undefined,
    name: stringOf(metadata, 'name'),
    namespace: stringOf(metadata, 'namespace'),
    faults: faults.map(({ type, at, field, detail }) => ({ type, field, detail, ...locate(at) })),
    warnings: warnings.map(({ at, field, detail }) => ({ field, detail, ...locate(at) })),
    asWritten,
    locate: (field) => locate(offsetOfField(root, field)),
  };
}

function stringOf(node: DocumentNode | undefined, key: string): string {
  const value = node?.is === 'map' ? node.entries.get(key)?.value : undefined;
  return value?.is === 'string' ? value.value : '';
}
