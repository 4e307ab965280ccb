// The program of authProviderCredentials: what the Kubernetes client knows of auth providers, in a process of its own. The client takes tens of
// megabytes, waits for the commands of providers without a deadline, and its OpenID client has the settings of the whole process.
import { readFileSync } from 'node:fs';
import { text } from 'node:stream/consumers';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { KubeConfig } from '@kubernetes/client-node';
import { errorText } from '../../base/error-text.ts';
import type { ProviderAnswer, ProviderQuestion } from './auth-provider-messages.ts';

const CA_FILE = 'idp-certificate-authority';
const CA_DATA = 'idp-certificate-authority-data';
const ISSUER = 'idp-issuer-url';

type Config = Record<string, unknown>;

async function answer({ server, provider }: ProviderQuestion): Promise<ProviderAnswer> {
  const config: Config = { ...provider.config };
  const asked: { headers: Config; cert?: unknown; key?: unknown } = { headers: {} };
  try {
    prepareForOpenId(config);
    const kubeConfig = new KubeConfig();
    kubeConfig.loadFromOptions({
      clusters: [{ name: 'cluster', server, skipTLSVerify: true }],
      users: [{ name: 'user', authProvider: { name: provider.name, config } }],
      contexts: [{ name: 'context', cluster: 'cluster', user: 'user' }],
      currentContext: 'context',
    });
    // Nothing is sent to the server here: it fills in what a request would have.
    await kubeConfig.applyToHTTPSOptions(asked as Parameters<KubeConfig['applyToHTTPSOptions']>[0]);
  } catch (error) {
    return { error: explained(error) };
  }
  const asText = (value: unknown): string | undefined => (typeof value === 'string' && value !== '' ? value : undefined);
  return {
    authorization: asText(asked.headers['Authorization']),
    certificatePem: asText(asked.cert),
    keyPem: asText(asked.key),
    config: { ...provider.config, ...config },
  };
}

/** The client's OpenID client wants a URL where the kubeconfig has a text, and cannot read answers of a provider with a CA of its own. */
function prepareForOpenId(config: Config): void {
  const { [ISSUER]: issuer, [CA_FILE]: file, [CA_DATA]: data } = config;
  if (typeof issuer === 'string') config[ISSUER] = URL.parse(issuer) ?? issuer;
  const pem =
    typeof file === 'string' ? readFileSync(file, 'latin1') : typeof data === 'string' ? Buffer.from(data, 'base64').toString() : '';
  if (pem !== '') setDefaultCACertificates([...getCACertificates(), pem]);
  delete config[CA_FILE];
  delete config[CA_DATA];
}

/** Command lines and outputs are not repeated: they may hold secrets. */
function explained(error: unknown): string {
  if (error instanceof SyntaxError) return 'what its command printed is not JSON';
  if (!(error instanceof Error)) return 'unknown';
  const { cause } = error;
  if (cause instanceof Error && 'status' in cause) return `its command failed (exit code ${String(cause.status)})`;
  const said = ['error', 'error_description'].map((name): unknown => Reflect.get(error, name)).filter((part) => typeof part === 'string');
  return [errorText(error), ...said].join(': ').slice(0, 500);
}

process.stdout.write(JSON.stringify(await answer(JSON.parse(await text(process.stdin)) as ProviderQuestion)));
