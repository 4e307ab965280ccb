import { readFile, realpath } from 'node:fs/promises';
import { isJsonObject, type JsonObject } from '../../base/json-object.ts';
import { writePrivateFile } from '../../base/write-private-file.ts';
import { readYamlDocument } from '../../base/yaml-document.ts';

/** What oidc changes of its config; the other providers ask a command each time. */
const tokenFields = ['id-token', 'refresh-token'] as const;

/**
 * Writes the tokens of an auth provider into the kubeconfig that it was read from, for the next agent: a refresh token may be good for one
 * use (client-go's AuthProviderConfigPersister). Leaves a file alone in which someone else has changed them since `before`. Rejects where it
 * cannot be read or written.
 */
export async function keepTokens(
  { file, userName }: { readonly file: string; readonly userName: string },
  before: JsonObject,
  now: JsonObject,
): Promise<void> {
  const changed = tokenFields.filter((name) => typeof now[name] === 'string' && now[name] !== before[name]);
  if (changed.length === 0) return;
  // A link to it stays one.
  const path = await realpath(file);
  const { document, content } = readYamlDocument(await readFile(path, 'utf8'));
  const users: unknown = isJsonObject(content) ? content['users'] : undefined;
  const index = Array.isArray(users) ? users.findIndex((user) => isJsonObject(user) && user['name'] === userName) : -1;
  const config = ['users', index, 'user', 'auth-provider', 'config'];
  if (index < 0 || tokenFields.some((name) => document.getIn([...config, name]) !== before[name])) return;
  for (const name of changed) document.setIn([...config, name], now[name]);
  await writePrivateFile(path, document.toString({ lineWidth: 0, indentSeq: false }));
}
