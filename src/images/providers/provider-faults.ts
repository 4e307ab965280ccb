import { isQualifiedName } from '../../model/validation/formats.ts';
import { locationFault } from './location-fault.ts';

/** A provider as its configuration has it. */
export interface ProviderSpec {
  /** Of its program, in --image-credential-provider-bin-dir. */
  readonly name: string;
  /** What it is asked and answers in. */
  readonly apiVersion: string;
  readonly matchImages: readonly string[];
  /** How long an answer counts that does not say so itself. */
  readonly defaultCacheMs: number | undefined;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly tokenAttributes: TokenAttributes | null | undefined;
}

interface TokenAttributes {
  readonly audience: string;
  readonly cacheType: string;
  readonly required: boolean | undefined;
  readonly requiredKeys: readonly string[];
  readonly optionalKeys: readonly string[];
}

export interface ProviderFault {
  readonly type: 'FieldValueRequired' | 'FieldValueInvalid' | 'FieldValueNotSupported' | 'FieldValueDuplicate' | 'FieldValueForbidden';
  readonly field: string;
  readonly detail: string;
}

const V1 = 'credentialprovider.kubelet.k8s.io/v1';
const versions = [V1, 'credentialprovider.kubelet.k8s.io/v1alpha1', 'credentialprovider.kubelet.k8s.io/v1beta1'];
const cacheTypes = ['ServiceAccount', 'Token'];
const supported = (values: readonly string[]): string => `supported values: ${values.map((value) => JSON.stringify(value)).join(', ')}`;

/** All that is wrong with a configuration (validateCredentialProviderConfig in pkg/credentialprovider/plugin). */
export function providerFaults(providers: readonly ProviderSpec[]): readonly ProviderFault[] {
  if (providers.length === 0) return [{ type: 'FieldValueRequired', field: 'providers', detail: 'at least 1 item in plugins is required' }];
  return providers.flatMap((provider) => [...nameFaults(provider.name), ...ownFaults(provider), ...tokenFaults(provider)]);
}

function nameFaults(name: string): readonly ProviderFault[] {
  const invalid = (why: string): ProviderFault => ({ type: 'FieldValueInvalid', field: 'providers.name', detail: `provider name ${why}` });
  return [
    ...(name.includes('/') ? [invalid("cannot contain '/'")] : []),
    ...(name.includes(' ') ? [invalid('cannot contain spaces')] : []),
    ...(name === '.' || name === '..' ? [invalid(`cannot be '${name}'`)] : []),
  ];
}

function ownFaults({ apiVersion, matchImages, defaultCacheMs }: ProviderSpec): readonly ProviderFault[] {
  const faults: ProviderFault[] = [];
  const add = (type: ProviderFault['type'], field: string, detail: string): void => {
    faults.push({ type, field: `providers.${field}`, detail });
  };
  if (apiVersion === '') add('FieldValueRequired', 'apiVersion', '');
  else if (!versions.includes(apiVersion)) add('FieldValueNotSupported', 'apiVersion', supported(versions));
  if (matchImages.length === 0) add('FieldValueRequired', 'matchImages', 'at least 1 item in matchImages is required');
  for (const image of matchImages) {
    const fault = locationFault(image);
    if (fault !== undefined) add('FieldValueInvalid', 'matchImages', `match image is invalid: ${fault}`);
  }
  if (defaultCacheMs === undefined) add('FieldValueRequired', 'defaultCacheDuration', '');
  else if (defaultCacheMs < 0) add('FieldValueInvalid', 'defaultCacheDuration', 'must be greater than or equal to 0');
  return faults;
}

function tokenFaults({ apiVersion, tokenAttributes: tokens }: ProviderSpec): readonly ProviderFault[] {
  if (!tokens) return [];
  const at = 'providers.tokenAttributes';
  const keysAt = { required: `${at}.requiredServiceAccountAnnotationKeys`, optional: `${at}.optionalServiceAccountAnnotationKeys` };
  const { audience, cacheType, required, requiredKeys, optionalKeys } = tokens;
  const faults: ProviderFault[] = [];
  const add = (type: ProviderFault['type'], field: string, detail: string): void => {
    faults.push({ type, field, detail });
  };
  if (versions.includes(apiVersion) && apiVersion !== V1)
    add('FieldValueForbidden', at, `tokenAttributes is only supported for ${V1} API version`);
  if (audience === '') add('FieldValueRequired', `${at}.serviceAccountTokenAudience`, '');
  if (required === undefined) add('FieldValueRequired', `${at}.requireServiceAccount`, '');
  else if (!required && requiredKeys.length > 0)
    add('FieldValueForbidden', keysAt.required, 'requireServiceAccount cannot be false when requiredServiceAccountAnnotationKeys is set');
  for (const [field, keys] of [
    [keysAt.required, requiredKeys],
    [keysAt.optional, optionalKeys],
  ] as const) {
    for (const [i, key] of keys.entries()) {
      for (const why of isQualifiedName(key.toLowerCase())) add('FieldValueInvalid', field, why);
      if (keys.indexOf(key) < i) add('FieldValueDuplicate', field, '');
    }
  }
  if (requiredKeys.some((key) => optionalKeys.includes(key)))
    add('FieldValueInvalid', at, 'annotation keys cannot be both required and optional');
  if (cacheType === '')
    add(
      'FieldValueRequired',
      `${at}.cacheType`,
      `cacheType is required to be set when tokenAttributes is specified. Supported values are: ${cacheTypes.join(', ')}`,
    );
  else if (!cacheTypes.includes(cacheType)) add('FieldValueNotSupported', `${at}.cacheType`, supported(cacheTypes));
  return faults;
}
