import { fileURLToPath } from 'node:url';
import { isJsonObject, type JsonObject } from '../../base/json-object.ts';
import { momentOf } from '../../base/moment.ts';
import { runCommand } from '../../base/run-command.ts';
import { parseTime } from '../../model/time.ts';
import type { Credentials, CredentialSource } from '../../ports/api-credentials.ts';
import type { ProviderAnswer, ProviderQuestion } from './auth-provider-messages.ts';
import { checkIdentity } from './check-identity.ts';
import { keepTokens } from './keep-tokens.ts';
import { KubeconfigError } from './kubeconfig-error.ts';
import { LastingCredentials } from './lasting-credentials.ts';
import type { KubeconfigFields } from './parse-kubeconfig.ts';
import type { UserCredentialsDeps } from './user-credentials.ts';

/** A provider that hangs must not hang the agent. */
const DEADLINE_MS = 30_000;
/** Of a token that does not say when it ends. */
const UNKNOWN_LIFE_MS = 10 * 60_000;
/** What a provider gives is used for so long at least, whatever it says: each question is a process. */
const LEAST_LIFE_MS = 10_000;

/** Credentials of an auth provider (azure, gcp, oidc), from KubeConfig of @kubernetes/client-node: asked at the first use, and when a token has ended or was refused; then the kubeconfig is given the new ones. */
export function authProviderCredentials(provider: KubeconfigFields, deps: UserCredentialsDeps): CredentialSource {
  const name = provider.text('name');
  if (name === undefined) throw new KubeconfigError('malformed', `kubeconfig ${provider.at()}: auth-provider has no name`);
  const { clock, log, origin, cluster, source } = deps;
  const where = `${origin}: auth-provider ${name}`;
  const given = provider.fields('config')?.value();
  let config: JsonObject = isJsonObject(given) ? given : {};
  const lasting = new LastingCredentials(clock, async () => {
    const answer = await askProvider({ server: cluster.server, provider: { name, config } }, where, deps);
    const givenAt = momentOf(clock);
    const credentials = credentialsOf(answer, where, givenAt.dateMs);
    const before = config;
    config = answer.config;
    await keepTokens(source, before, config).catch((error: unknown) => {
      log.warn('renewed credentials not written: an agent that starts later uses the old ones', { origin, file: source.file, error });
    });
    const endsAtMs = endOf(answer) ?? givenAt.dateMs + UNKNOWN_LIFE_MS;
    return { credentials, givenAt, lifeMs: Math.max(LEAST_LIFE_MS, endsAtMs - givenAt.dateMs) };
  });
  return { current: (signal) => lasting.current(signal), refused: () => lasting.drop(LEAST_LIFE_MS) };
}

type Given = Exclude<ProviderAnswer, { readonly error: string }>;

async function askProvider(question: ProviderQuestion, where: string, { clock }: UserCredentialsDeps): Promise<Given> {
  const program = fileURLToPath(new URL(`./auth-provider-main.${import.meta.url.endsWith('.ts') ? 'ts' : 'js'}`, import.meta.url));
  const end = await runCommand(process.execPath, [program], {
    clock,
    deadlineMs: DEADLINE_MS,
    signal: new AbortController().signal,
    input: JSON.stringify(question),
    // So that tokens are asked for through the environment's proxies.
    env: { ...process.env, NODE_USE_ENV_PROXY: '1' },
  });
  const failed = (why: string): KubeconfigError => new KubeconfigError('unreadable', `${where} ${why}`);
  if (end.is === 'late') throw failed(`did not answer within ${DEADLINE_MS / 1000} s`);
  if (end.is !== 'exited' || end.code !== 0) throw failed('failed: its program ended before it answered');
  // Nothing of it is repeated: there are secrets in it.
  const answer = jsonOf(end.stdout) as ProviderAnswer | undefined;
  if (answer === undefined) throw failed('failed: what it gave is more than a megabyte, or broken');
  if ('error' in answer) throw failed(`failed: ${answer.error}`);
  return answer;
}

function credentialsOf({ authorization, certificatePem, keyPem }: Given, where: string, nowMs: number): Credentials {
  const identity = certificatePem === undefined || keyPem === undefined ? undefined : { certificatePem, keyPem };
  if (authorization === undefined && identity === undefined) {
    throw new KubeconfigError(
      'malformed',
      `${where} gives no token: azure, gcp, oidc and exec are known, and oidc needs an id-token that is in force, or client-id, idp-issuer-url and refresh-token beside it`,
    );
  }
  if (identity !== undefined) checkIdentity(identity, `${where}: its client certificate`, nowMs);
  return { identity, authorization };
}

/** The date at which the token expires: from the token, where it is a JSON Web Token, or from what the provider notes beside it; undefined: unknown. */
function endOf({ authorization, config }: Given): number | undefined {
  const [, payload] = authorization?.replace(/^Bearer /, '').split('.') ?? [];
  const claims = payload === undefined ? undefined : jsonOf(Buffer.from(payload, 'base64url').toString());
  if (isJsonObject(claims) && typeof claims['exp'] === 'number') return claims['exp'] * 1000;
  const { expiry, 'expires-on': expiresOn } = config;
  if (typeof expiry === 'string') return parseTime(expiry);
  return typeof expiresOn === 'string' && /^\d{1,12}$/.test(expiresOn) ? Number(expiresOn) * 1000 : undefined;
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
