import { constants } from 'node:crypto';
import { DEFAULT_CIPHERS, type SecureContextOptions } from 'node:tls';
import { tlsCipherSuites, tlsCurves, tlsVersions, type TlsVersionName } from '../model/tls-settings.ts';
import type { ServingPair } from '../ports/serving-certificate.ts';

export interface TlsSettings {
  readonly tlsMinVersion: TlsVersionName;
  readonly tlsCipherSuites: readonly string[];
  /** Go's numbers of them; none: Node.js' own choice. */
  readonly tlsCurvePreferences: readonly number[];
}

const TLS_1_3_SUITES: readonly string[] = ['TLS_AES_128_GCM_SHA256', 'TLS_AES_256_GCM_SHA384', 'TLS_CHACHA20_POLY1305_SHA256'];

/** What the server shows and accepts, for tls.Server.setSecureContext. `clientCa` is PEM; undefined: clients show no certificates. */
export function tlsContext(settings: TlsSettings, pair: ServingPair | undefined, clientCa: string | undefined): SecureContextOptions {
  return {
    ...(pair === undefined ? {} : { cert: pair.certificatePem, key: pair.keyPem }),
    ...(clientCa === undefined ? {} : { ca: clientCa }),
    minVersion: tlsVersions[settings.tlsMinVersion],
    ...ciphers(settings),
    ...curves(settings),
    // No session is resumed: each connection shows its certificate afresh. And none is agreed on a second time: that costs the server more than
    // the client.
    secureOptions: constants.SSL_OP_NO_TICKET | constants.SSL_OP_NO_RENEGOTIATION,
    honorCipherOrder: true,
  };
}

function curves({ tlsCurvePreferences: ids }: TlsSettings): SecureContextOptions {
  const names = ids.flatMap((id) => tlsCurves.get(id) ?? []);
  return names.length === 0 ? {} : { ecdhCurve: names.join(':') };
}

function ciphers({ tlsMinVersion, tlsCipherSuites: names }: TlsSettings): SecureContextOptions {
  const isOld = tlsMinVersion === 'VersionTLS10' || tlsMinVersion === 'VersionTLS11';
  if (names.length === 0 && !isOld) return {};
  const chosen = names.flatMap((name) => tlsCipherSuites[name] ?? []);
  // Go has the suites of TLS 1.3 always on: its list is about the older versions.
  const all = names.length === 0 ? [DEFAULT_CIPHERS] : [...new Set([...TLS_1_3_SUITES, ...chosen])];
  // OpenSSL 3 speaks versions before 1.2 on its lowest security level only.
  return { ciphers: [...all, ...(isOld ? ['@SECLEVEL=0'] : [])].join(':') };
}
