import { type TlsVersionName, tlsCipherSuites, tlsCurves, tlsVersions } from '../model/tls-settings.ts';
import { numbers } from './accepted-kinds.ts';
import { parsedText, string, strings } from './kinds.ts';
import { ExpectedError, type Kind } from './option.ts';

const versionNames = Object.keys(tlsVersions).join(' or ');
const isVersion = (text: string): text is TlsVersionName => Object.hasOwn(tlsVersions, text);

/** An empty text is the default, as for the kubelet (component-base TLSVersion). */
export const tlsVersion: Kind<TlsVersionName> = {
  name: 'string',
  expected: versionNames,
  parse: (text) => {
    if (text === '') return 'VersionTLS12';
    if (isVersion(text)) return text;
    throw new ExpectedError(versionNames);
  },
  show: (value) => value,
  schema: (z) => parsedText(z, versionNames, (text) => tlsVersion.parse(text)),
  inFile: string,
};

const expectedSuites = `a list of cipher suites out of ${Object.keys(tlsCipherSuites).join(', ')}`;
const areKnown = (names: readonly string[]): boolean => names.every((name) => Object.hasOwn(tlsCipherSuites, name));

export const cipherSuites: Kind<readonly string[]> = {
  ...strings,
  expected: expectedSuites,
  parse: (text) => {
    const names = strings.parse(text);
    if (areKnown(names)) return names;
    throw new ExpectedError(expectedSuites);
  },
  schema: (z) => strings.schema(z).refine(areKnown, expectedSuites),
  inFile: strings,
};

const expectedCurves = `a list of curves out of ${[...tlsCurves.keys()].join(', ')}`;
const areCurves = (ids: readonly number[]): boolean => ids.every((id) => tlsCurves.has(id));

/** Of Go's numbers for curves (crypto/tls CurveID). */
export const curves: Kind<readonly number[]> = {
  ...numbers,
  expected: expectedCurves,
  parse: (text) => {
    const ids = text === '' ? [] : numbers.parse(text);
    if (areCurves(ids)) return ids;
    throw new ExpectedError(expectedCurves);
  },
  schema: (z) => numbers.schema(z).refine(areCurves, expectedCurves),
  inFile: numbers,
};
