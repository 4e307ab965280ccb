import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { Clock } from '../../base/clock.ts';
import { errorText } from '../../base/error-text.ts';
import type { Logger } from '../../base/logger.ts';
import { unlessAborted } from '../../base/unless-aborted.ts';
import { checkIdentity } from './check-identity.ts';
import type { Credentials, CredentialSource } from '../../ports/api-credentials.ts';
import { type ClusterAccess, fixedCredentials } from './cluster-access.ts';
import { execCredentials } from './exec-credentials.ts';
import { KubeconfigError } from './kubeconfig-error.ts';
import type { KubeconfigFields } from './parse-kubeconfig.ts';
import { pemOf } from './pem-of.ts';

export interface UserCredentialsDeps {
  readonly clock: Clock;
  readonly log: Logger;
  /** Where relative paths start. */
  readonly directory: string;
  readonly origin: string;
  /** Where the user is written down. */
  readonly source: { readonly file: string; readonly userName: string };
  /** For exec plugins that ask for it. */
  readonly cluster: Omit<ClusterAccess, 'credentials'>;
}

/** Files are read again when they were read longer ago than this. client-go rereads tokens every minute, certificates every five. */
const FRESH_MS = 60_000;

/**
 * A kubeconfig user's credentials: client certificate, token, basic auth, an exec plugin or an auth provider, from the text or from files that may be
 * replaced at any time. Rejects with KubeconfigError when what is there now is of no use.
 */
export async function userCredentials(user: KubeconfigFields, deps: UserCredentialsDeps): Promise<CredentialSource> {
  const read = (): Promise<Credentials> => readCredentials(user, deps);
  const first = await read();
  const fromFiles = ['client-certificate', 'client-key', 'tokenFile'].some((field) => user.has(field));
  const own = fromFiles ? rereadCredentials(first, read, deps) : fixedCredentials(first);
  const plugin = await pluginOf(user, deps);
  // Who has a token needs no other (client-go, exec and auth providers' round trippers).
  return plugin === undefined || first.authorization !== undefined ? own : bothCredentials(own, plugin);
}

/** What has to be asked for credentials: a program, or an auth provider. */
async function pluginOf(user: KubeconfigFields, deps: UserCredentialsDeps): Promise<CredentialSource | undefined> {
  const [exec, provider] = [user.fields('exec'), user.fields('auth-provider')];
  if (exec !== undefined && provider !== undefined) {
    throw new KubeconfigError('malformed', `kubeconfig ${user.at('auth-provider')}: there is an auth-provider and exec; choose one`);
  }
  if (exec !== undefined) return execCredentials(exec, deps);
  if (provider === undefined) return undefined;
  const { authProviderCredentials } = await import('./auth-provider-credentials.ts');
  return authProviderCredentials(provider, deps);
}

/** What the plugin gives, and the client certificate beside it where the plugin gives none. */
function bothCredentials(own: CredentialSource, plugin: CredentialSource): CredentialSource {
  return {
    current: async (signal) => {
      const [{ identity }, given] = [await own.current(signal), await plugin.current(signal)];
      return { ...given, identity: given.identity ?? identity };
    },
    // Both hear of it.
    refused: () => [own.refused(), plugin.refused()].includes(true),
  };
}

async function readCredentials(user: KubeconfigFields, { clock, directory, origin }: UserCredentialsDeps): Promise<Credentials> {
  const [certificatePem, keyPem] = await Promise.all([
    pemOf(user, 'client-certificate', directory, origin),
    pemOf(user, 'client-key', directory, origin),
  ]);
  if ((certificatePem === undefined) !== (keyPem === undefined)) {
    const [has, lacks] = keyPem === undefined ? ['client-certificate', 'client-key'] : ['client-key', 'client-certificate'];
    throw new KubeconfigError('malformed', `${origin}: there is a ${has} but no ${lacks}`);
  }
  const authorization = await authorizationOf(user, directory, origin);
  if (certificatePem === undefined || keyPem === undefined) return { identity: undefined, authorization };
  const path = user.text('client-certificate-data') === undefined ? ` ${resolve(directory, user.text('client-certificate') ?? '')}` : '';
  const identity = { certificatePem, keyPem };
  checkIdentity(identity, `${origin}: client certificate${path}`, clock.now());
  return { identity, authorization };
}

/** The Authorization header. */
async function authorizationOf(user: KubeconfigFields, directory: string, origin: string): Promise<string | undefined> {
  const [tokenFile, username] = [user.text('tokenFile'), user.text('username')];
  let token = user.text('token');
  if (tokenFile !== undefined) {
    const path = resolve(directory, tokenFile);
    try {
      token = (await readFile(path, 'utf8')).trim();
    } catch (cause) {
      throw new KubeconfigError('unreadable', `${origin}: tokenFile ${path} cannot be read: ${errorText(cause)}`, { cause });
    }
    if (token === '') throw new KubeconfigError('malformed', `${origin}: tokenFile ${path} is empty`);
  }
  if (token !== undefined && username !== undefined) {
    throw new KubeconfigError('malformed', `${origin}: there is a token and a username; choose one`);
  }
  if (token !== undefined) {
    if (/[^\x21-\x7e]/.test(token)) throw new KubeconfigError('malformed', `${origin}: the token holds characters that no token has`);
    return `Bearer ${token}`;
  }
  if (username === undefined) return undefined;
  return `Basic ${Buffer.from(`${username}:${user.text('password') ?? ''}`).toString('base64')}`;
}

/** Reads again what is older than a minute or was refused; what cannot be used keeps the last good ones in place. */
function rereadCredentials(
  first: Credentials,
  read: () => Promise<Credentials>,
  { clock, log, origin }: UserCredentialsDeps,
): CredentialSource {
  let known = first;
  let readAtMs = clock.monotonicMs();
  let reading: Promise<void> | undefined;
  const reread = async (): Promise<void> => {
    try {
      known = await read();
    } catch (error) {
      log.warn('credentials cannot be read again; the last ones are kept', { origin, error });
    }
    readAtMs = clock.monotonicMs();
    reading = undefined;
  };
  return {
    current: async (signal) => {
      signal.throwIfAborted();
      if (clock.monotonicMs() - readAtMs >= FRESH_MS) await unlessAborted((reading ??= reread()), signal);
      return known;
    },
    refused: () => {
      readAtMs = Number.NEGATIVE_INFINITY;
      return true;
    },
  };
}
