/** The string formats of Kubernetes (apimachinery util/validation): each check says what is wrong, nothing when all is well. */
export type FormatCheck = (value: string) => readonly string[];

const fine: readonly string[] = [];

interface Format {
  readonly pattern: string;
  readonly explanation: string;
  readonly examples: readonly string[];
  /** In bytes. */
  readonly maxLength?: number;
  /** How messages call them. */
  readonly unit?: 'characters' | 'bytes';
}

const tooLong = (maxLength: number, unit = 'characters'): string => `must be no more than ${maxLength} ${unit}`;
const exceeds = (value: string, maxBytes: number): boolean => value.length * 3 > maxBytes && Buffer.byteLength(value) > maxBytes;

/** The comma after each example but the last is how Kubernetes prints them. */
function mismatch({ pattern, explanation, examples }: Format): string {
  return `${explanation} (e.g. ${examples.map((e) => `'${e}', `).join(' or ')}regex used for validation is '${pattern}')`;
}

function formatCheck(format: Format): FormatCheck {
  const regex = new RegExp(`^${format.pattern}$`);
  const maxLength = format.maxLength ?? Infinity;
  const wrongForm = mismatch(format);
  return (value) => {
    const long = exceeds(value, maxLength);
    const formed = regex.test(value);
    if (!long && formed) return fine;
    return [...(long ? [tooLong(maxLength, format.unit)] : []), ...(formed ? [] : [wrongForm])];
  };
}

const label = '[a-z0-9]([-a-z0-9]*[a-z0-9])?';
const qualifiedName = '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]';

const isWholeLabel = formatCheck({
  pattern: label,
  explanation:
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character",
  examples: ['my-name', '123-abc'],
  maxLength: 63,
});

export const isDns1123Subdomain = formatCheck({
  pattern: `${label}(\\.${label})*`,
  explanation:
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character",
  examples: ['example.com'],
  maxLength: 253,
});

const subdomainOnly = new RegExp(`^${label}(\\.${label})+$`);

export const isDns1123Label: FormatCheck = (value) => {
  if (!subdomainOnly.test(value)) return isWholeLabel(value);
  return [...isWholeLabel(value).slice(0, -1), 'must not contain dots'];
};

/** Names that resolvers look for may have parts that begin with an underscore. */
export const isDns1123SubdomainWithUnderscore = formatCheck({
  pattern: '_?[a-z0-9]([-_a-z0-9]*[a-z0-9])?(\\._?[a-z0-9]([-_a-z0-9]*[a-z0-9])?)*',
  explanation:
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '_', '-' or '.', and must start and end with an alphanumeric character",
  examples: ['example.com'],
  maxLength: 253,
});

export const isDns1035Label = formatCheck({
  pattern: '[a-z]([-a-z0-9]*[a-z0-9])?',
  explanation:
    "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character",
  examples: ['my-name', 'abc-123'],
  maxLength: 63,
});

export const isLabelValue = formatCheck({
  pattern: `(${qualifiedName})?`,
  explanation:
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character",
  examples: ['MyValue', 'my_value', '12345'],
  maxLength: 63,
  unit: 'bytes',
});

export const isHttpHeaderName = formatCheck({
  pattern: '[-A-Za-z0-9]+',
  explanation: "a valid HTTP header must consist of alphanumeric characters or '-'",
  examples: ['X-Header-Name'],
});

/** For names that serve as the prefix of a generated name: a dash at the end is fine, behind a character of one byte (maskTrailingDash). */
export const asPrefix =
  (check: FormatCheck): FormatCheck =>
  (value) =>
    check(value.endsWith('-') ? `${value.slice(0, -1).replace(/\p{ASCII}$/u, '')}a` : value);

const namePart: Format = {
  pattern: qualifiedName,
  explanation: "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character",
  examples: ['MyName', 'my.name', '123-abc'],
  maxLength: 63,
  unit: 'bytes',
};
const checkNamePart = formatCheck(namePart);
const manySlashes = [`a valid label key ${mismatch(namePart)} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')`];

/** `[prefix/]name`, the form of label keys, annotation keys and resource names. */
export const isQualifiedName: FormatCheck = (value) => {
  const slash = value.indexOf('/');
  if (slash !== -1 && value.includes('/', slash + 1)) return manySlashes;
  const name = value.slice(slash + 1);
  const aboutName = checkNamePart(name);
  if (slash === -1 && aboutName.length === 0) return fine;
  const prefix = slash === -1 ? undefined : value.slice(0, slash);
  const aboutPrefix = prefix === undefined ? fine : prefix === '' ? ['must be non-empty'] : isDns1123Subdomain(prefix);
  if (aboutName.length === 0 && aboutPrefix.length === 0) return fine;
  const empty = name === '' ? ['must be non-empty'] : fine;
  return [...aboutPrefix.map((m) => `prefix part ${m}`), ...[...empty, ...aboutName].map((m) => `name part ${m}`)];
};

/** A name that becomes a file must not lead out of its directory. */
function leadsOut(value: string): readonly string[] {
  if (value === '.') return ["must not be '.'"];
  if (value === '..') return ["must not be '..'"];
  return value.startsWith('..') ? ["must not start with '..'"] : fine;
}

function fileLike(check: FormatCheck): FormatCheck {
  return (value) => {
    const about = check(value);
    return value.startsWith('.') ? [...about, ...leadsOut(value)] : about;
  };
}

/** As of Kubernetes 1.34 (IsRelaxedEnvVarName in k8s.io/apimachinery). */
export const isEnvVarName: FormatCheck = (value) =>
  /^[ -<>-~]+$/.test(value) ? fine : ["a valid environment variable name must consist only of printable ASCII characters other than '='"];

/** Keys of config maps and secrets. */
export const isConfigMapKey = fileLike(
  formatCheck({
    pattern: '[-._a-zA-Z0-9]+',
    explanation: "a valid config key must consist of alphanumeric characters, '-', '_' or '.'",
    examples: ['key.name', 'KEY_NAME', 'key-name'],
    maxLength: 253,
  }),
);

const portNameChars = /^[-a-z0-9]+$/;
const portNameLetter = /[a-z]/;

/** RFC 6335 service names, in lower case only. */
export const isPortName: FormatCheck = (value) => {
  const wrong: string[] = [];
  if (exceeds(value, 15)) wrong.push(tooLong(15));
  if (!portNameChars.test(value)) wrong.push('must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)');
  if (!portNameLetter.test(value)) wrong.push('must contain at least one letter (a-z)');
  if (value.includes('--')) wrong.push('must not contain consecutive hyphens');
  if (value.startsWith('-') || value.endsWith('-')) wrong.push('must not begin or end with a hyphen');
  return wrong;
};

export const mustBeBetween = (low: number, high: number): string => `must be between ${low} and ${high}, inclusive`;

const notInRange = (low: number, high: number): ((value: number) => readonly string[]) => {
  const wrong = [mustBeBetween(low, high)];
  return (value) => (value >= low && value <= high ? fine : wrong);
};

export const isPortNumber = notInRange(1, 65535);
/** User and group ids: what libcontainer takes. */
export const isUnixId = notInRange(0, 2 ** 31 - 1);
