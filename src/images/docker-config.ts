import { type GoJson, type GoJsonObject, goJsonSyntaxError, parseGoJson } from '../model/go-json-syntax.ts';
import { foldCase } from '../model/go-text.ts';
import { decodeAuth } from './decode-auth.ts';
import type { CredentialSource } from './verification/pull-credentials.ts';

/** One registry, or a path in it, with what to say there. */
export interface DockerConfigEntry {
  /** As written: a host, a host with a path, a URL; the host may hold wildcards. */
  readonly location: string;
  readonly username: string;
  readonly password: string;
  readonly email?: string;
  /** Whose it is; absent: the node's. */
  readonly source?: CredentialSource;
}

/**
 * The entries of a config.json or of a kubernetes.io/dockerconfigjson secret. One bad entry spoils the whole text, as it does for the kubelet.
 * @throws Error in Go's words; they never hold credentials.
 */
export function parseDockerConfigJson(text: string): readonly DockerConfigEntry[] {
  const root = parse(text, 'DockerConfigJSON');
  const entries = new Map<string, DockerConfigEntry>();
  let wrong: string | undefined;
  for (const [key, value] of root.members) {
    const name = foldCase(key);
    if (name === 'auths') {
      if (value === null) entries.clear();
      else if (isObject(value)) readEntries(value, entries, 'DockerConfigJSON.auths');
      else wrong ??= mismatch(value, 'credentialprovider.DockerConfig', 'DockerConfigJSON.auths');
    } else if (name === 'httpheaders' && value !== null) {
      const field = 'DockerConfigJSON.HttpHeaders';
      if (!isObject(value)) wrong ??= mismatch(value, 'map[string]string', field);
      else for (const [, header] of value.members) if (!isText(header)) wrong ??= mismatch(header, 'string', field);
    }
  }
  if (wrong !== undefined) throw new Error(wrong);
  return [...entries.values()];
}

/** The entries of a .dockercfg or of a kubernetes.io/dockercfg secret. Errors as `parseDockerConfigJson`. */
export function parseDockercfg(text: string): readonly DockerConfigEntry[] {
  const entries = new Map<string, DockerConfigEntry>();
  readEntries(parse(text, 'DockerConfig'), entries, undefined);
  return [...entries.values()];
}

/** The credential helpers that a config.json asks for: none runs on a node. */
export function credentialHelpersOf(text: string): readonly string[] {
  if (goJsonSyntaxError(text) !== undefined) return [];
  const helpers = membersOf(parseGoJson(text)).flatMap(([name, value]) => {
    if (name === 'credsStore') return value;
    return name === 'credHelpers' ? membersOf(value).map(([, helper]) => helper) : [];
  });
  return [...new Set(helpers.filter((h): h is string => typeof h === 'string' && h !== ''))];
}

const membersOf = (value: GoJson): GoJsonObject['members'] => (isObject(value) ? value.members : []);

function readEntries({ members }: GoJsonObject, into: Map<string, DockerConfigEntry>, field: string | undefined): void {
  for (const [location, entry] of members) into.set(location, readEntry(location, entry, field));
}

function readEntry(location: string, value: GoJson, outer: string | undefined): DockerConfigEntry {
  if (value === null) return { location, username: '', password: '' };
  if (!isObject(value)) throw new Error(mismatch(value, 'credentialprovider.dockerConfigEntryWithAuth', outer));
  const fields = new Map(['username', 'password', 'email', 'auth'].map((name) => [name, '']));
  let wrong: string | undefined;
  for (const [key, field] of value.members) {
    const name = foldCase(key);
    if (!fields.has(name) || field === null) continue;
    if (typeof field === 'string') fields.set(name, field);
    else wrong ??= mismatch(field, 'string', outer ?? `dockerConfigEntryWithAuth.${name}`);
  }
  if (wrong !== undefined) throw new Error(wrong);
  const { username = '', password = '', email = '', auth = '' } = Object.fromEntries(fields);
  return { location, ...(auth === '' ? { username, password } : decodeAuth(auth)), ...(email !== '' && { email }) };
}

function parse(text: string, type: string): GoJsonObject {
  const root = parseGoJson(text) ?? { members: [] };
  if (!isObject(root)) throw new Error(mismatch(root, `credentialprovider.${type}`, undefined));
  return root;
}

function mismatch(value: GoJson, type: string, field: string | undefined): string {
  const kind = Array.isArray(value) ? 'array' : typeof value === 'boolean' ? 'bool' : typeof value;
  return `json: cannot unmarshal ${kind} into Go ${field === undefined ? 'value' : `struct field ${field}`} of type ${type}`;
}

const isObject = (value: GoJson): value is GoJsonObject => typeof value === 'object' && value !== null && 'members' in value;
const isText = (value: GoJson): boolean => value === null || typeof value === 'string';
