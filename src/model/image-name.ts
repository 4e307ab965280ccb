// The grammar of image references: github.com/docker/distribution/reference as Kubernetes 1.20 carries it.
import { quote, toLower } from './go-text.ts';

export interface ImageName {
  /** With its domain, "docker.io/library/nginx". */
  readonly repo: string;
  /** "latest" when there is neither tag nor digest; else empty where there is none. */
  readonly tag: string;
  /** "sha256:…", or empty. */
  readonly digest: string;
}

/** Carries Kubernetes' message. */
export class ImageNameError extends Error {
  override readonly name = 'ImageNameError';
}

const nameComponent = '[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*';
const domainComponent = '[a-zA-Z0-9]+(?:-+[a-zA-Z0-9]+)*';
const domain = `${domainComponent}(?:\\.${domainComponent})*(?::[0-9]+)?`;
const reference = new RegExp(
  `^((?:${domain}/)?${nameComponent}(?:/${nameComponent})*)` +
    '(?::([A-Za-z0-9_][A-Za-z0-9_.-]{0,127}))?' +
    '(?:@([A-Za-z][A-Za-z0-9]*(?:[-_+.][A-Za-z][A-Za-z0-9]*)*:[0-9A-Fa-f]{32,}))?$',
);
const wrongReference = 'invalid reference format';
const mustBeLowercase = 'repository name must be lowercase';
const maxNameLength = 255;

const hexDigits: ReadonlyMap<string, number> = new Map([
  ['sha256', 64],
  ['sha384', 96],
  ['sha512', 128],
]);

function checkDigest(digest: string): void {
  const algorithm = digest.slice(0, digest.indexOf(':'));
  const encoded = digest.slice(algorithm.length + 1);
  const length = hexDigits.get(algorithm);
  if (length === undefined) {
    const wellFormed = /^[a-z0-9]+(?:[.+_-][a-z0-9]+)*$/.test(algorithm);
    throw new ImageNameError(wellFormed ? 'unsupported digest algorithm' : 'invalid checksum digest format');
  }
  if (encoded.length !== length) throw new ImageNameError('invalid checksum digest length');
  if (/[A-F]/.test(encoded)) throw new ImageNameError('invalid checksum digest format');
}

/** A first part without a dot, a colon and not "localhost" is no domain; official images live under library/. */
function splitDomain(name: string): readonly [domain: string, remainder: string] {
  const slash = name.indexOf('/');
  const first = name.slice(0, Math.max(0, slash));
  const hasDomain = slash !== -1 && (/[.:]/.test(first) || first === 'localhost');
  const domainName = !hasDomain || first === 'index.docker.io' ? 'docker.io' : first;
  const remainder = hasDomain ? name.slice(slash + 1) : name;
  return [domainName, domainName === 'docker.io' && !remainder.includes('/') ? `library/${remainder}` : remainder];
}

/** Tag and digest empty where there are none. Throws ImageNameError. */
function parseNormalized(image: string): ImageName {
  if (/^[a-f0-9]{64}$/.test(image)) {
    throw new ImageNameError(`invalid repository name (${image}), cannot specify 64-byte hexadecimal strings`);
  }
  const [domainName, remainder] = splitDomain(image);
  const path = remainder.split(':', 1)[0] ?? '';
  if (toLower(path) !== path) throw new ImageNameError(`${wrongReference}: repository name (${path}) must be lowercase`);
  const full = `${domainName}/${remainder}`;
  const match = reference.exec(full);
  if (match === null) throw new ImageNameError(reference.test(toLower(full)) ? mustBeLowercase : wrongReference);
  const [, repo = '', tag = '', digest = ''] = match;
  if (repo.length > maxNameLength) throw new ImageNameError(`repository name must not be more than ${maxNameLength} characters`);
  if (digest !== '') checkDigest(digest);
  return { repo, tag, digest };
}

function explain(prefix: string, error: unknown): unknown {
  return error instanceof ImageNameError ? new ImageNameError(`${prefix}: ${error.message}`) : error;
}

/** pkg/util/parsers ParseImageName. Throws ImageNameError. */
export function parseImageName(image: string): ImageName {
  try {
    const parsed = parseNormalized(image);
    return parsed.tag === '' && parsed.digest === '' ? { ...parsed, tag: 'latest' } : parsed;
  } catch (error) {
    throw explain("couldn't parse image name", error);
  }
}

/** The name as it was written, with ":latest" when it had neither tag nor digest (pkg/kubelet/images applyDefaultImageTag). Throws ImageNameError. */
export function applyDefaultImageTag(image: string): string {
  try {
    const { tag, digest } = parseNormalized(image);
    return tag === '' && digest === '' ? `${image}:latest` : image;
  } catch (error) {
    throw explain(`couldn't parse image name ${quote(image)}`, error);
  }
}

/** What a container without imagePullPolicy gets: what is called latest is always pulled (pkg/apis/core/v1 SetDefaults_Container). */
export function defaultImagePullPolicy(image: string): 'Always' | 'IfNotPresent' {
  try {
    return parseImageName(image).tag === 'latest' ? 'Always' : 'IfNotPresent';
  } catch {
    return 'IfNotPresent';
  }
}
