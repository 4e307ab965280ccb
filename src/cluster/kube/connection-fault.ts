import { X509Certificate } from 'node:crypto';
import { errorText } from '../../base/error-text.ts';
import type { ClusterAccess } from './cluster-access.ts';
import { ProxyError } from './proxy.ts';

export interface ConnectionFault {
  /** `untrusted`: the server's certificate does not pass, which no waiting will change. */
  readonly kind: 'untrusted' | 'unreachable';
  /** Why there was no answer, in words. */
  readonly text: string;
}

const notSigned = new Set([
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  'CERT_SIGNATURE_FAILURE',
  'CERT_UNTRUSTED',
  'INVALID_CA',
]);

/** Puts a failed connection into words: what Node, OpenSSL and undici call it, and what it means here. */
export function connectionFault(error: unknown, { caPem, tlsServerName }: Pick<ClusterAccess, 'caPem' | 'tlsServerName'>): ConnectionFault {
  const proxyError = proxyErrorOf(error);
  if (proxyError !== undefined) return { kind: 'unreachable', text: proxyError.message };
  const [code, found] = codeOf(error);
  if (notSigned.has(code)) {
    const by =
      caPem === undefined
        ? 'any CA that this machine trusts, and the cluster in the kubeconfig has no certificate-authority'
        : `the CA that the kubeconfig gives for the cluster (${subjectsOf(caPem)})`;
    return { kind: 'untrusted', text: `the server's certificate is not signed by ${by} (${code})` };
  }
  switch (code) {
    case 'CERT_HAS_EXPIRED':
      return { kind: 'untrusted', text: "the server's certificate, or its CA's, has expired" };
    case 'CERT_NOT_YET_VALID':
      return { kind: 'untrusted', text: "the server's certificate is not valid yet; is this machine's clock right?" };
    case 'ERR_TLS_CERT_ALTNAME_INVALID': {
      const wanted = tlsServerName === undefined ? 'set tls-server-name if it has another one' : 'see tls-server-name';
      return { kind: 'untrusted', text: `the server's certificate is for another name; ${wanted}: ${messageOf(found)}` };
    }
    case 'ERR_SSL_WRONG_VERSION_NUMBER':
    case 'ERR_SSL_PACKET_LENGTH_TOO_LONG':
      return { kind: 'unreachable', text: 'what answers there does not speak TLS; is it http?' };
    case 'ECONNREFUSED':
      return { kind: 'unreachable', text: 'connection refused' };
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return { kind: 'unreachable', text: `the server's name cannot be resolved (${code})` };
    case 'ETIMEDOUT':
    case 'UND_ERR_CONNECT_TIMEOUT':
      return { kind: 'unreachable', text: 'the connection could not be made in time' };
    case 'EHOSTUNREACH':
    case 'ENETUNREACH':
      return { kind: 'unreachable', text: `there is no way to the server (${code})` };
    default:
      if (/^ERR_SSL_.*ALERT/.test(code)) {
        return { kind: 'unreachable', text: `the server refused the TLS handshake, perhaps for the client certificate (${code})` };
      }
      return { kind: 'unreachable', text: errorText(error) };
  }
}

/** What a proxy has failed for is not the server's fault, whatever it was. */
function proxyErrorOf(error: unknown): ProxyError | undefined {
  for (let at = error; at instanceof Error; at = at.cause) if (at instanceof ProxyError) return at;
  return undefined;
}

/** The first error of a chain that carries a code of its own, outermost first; undici's general ones only when there is no other. */
function codeOf(error: unknown): readonly [code: string, error: unknown] {
  let general: readonly [string, unknown] = ['', error];
  const seen = new Set<unknown>();
  const queue: unknown[] = [error];
  for (let at = queue.shift(); at !== undefined && !seen.has(at); at = queue.shift()) {
    seen.add(at);
    if (!(at instanceof Error)) continue;
    const code = 'code' in at && typeof at.code === 'string' ? at.code : '';
    if (code !== '' && code !== 'UND_ERR_SOCKET' && code !== 'UND_ERR_INFO') return [code, at];
    if (code !== '' && general[0] === '') general = [code, at];
    queue.push(at.cause, ...(at instanceof AggregateError ? (at.errors as readonly unknown[]) : []));
  }
  return general;
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

function subjectsOf(pem: string): string {
  const blocks = pem.match(/-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g) ?? [];
  return blocks.map((block) => new X509Certificate(block).subject.replaceAll('\n', ', ')).join('; ');
}
