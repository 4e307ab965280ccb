import { type FieldError, FieldErrors } from '../../model/validation/field-error.ts';
import { isQualifiedName } from '../../model/validation/formats.ts';
import { registryLocationFault } from '../registry-location.ts';

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

/** For a provider that is asked with the token of a service account. */
export interface TokenAttributes {
  readonly audience: string;
  readonly cacheType: string;
  readonly required: boolean | undefined;
  readonly requiredKeys: readonly string[];
  readonly optionalKeys: readonly string[];
}

const V1 = 'credentialprovider.kubelet.k8s.io/v1';
const versions = [V1, 'credentialprovider.kubelet.k8s.io/v1alpha1', 'credentialprovider.kubelet.k8s.io/v1beta1'];
const cacheTypes = ['ServiceAccount', 'Token'];

/**
 * All that is wrong with a configuration (validateCredentialProviderConfig in pkg/credentialprovider/plugin). `mayHaveTokens`: the feature gate
 * KubeletServiceAccountTokenForCredentialProviders.
 */
export function providerFaults(providers: readonly ProviderSpec[], mayHaveTokens = true): readonly FieldError[] {
  const errors = new FieldErrors();
  if (providers.length === 0) errors.required('providers', 'at least 1 item in plugins is required');
  for (const provider of providers) {
    checkName(provider.name, errors);
    checkItself(provider, errors);
    checkTokens(provider, mayHaveTokens, errors);
  }
  return errors.all;
}

function checkName(name: string, errors: FieldErrors): void {
  const invalid = (why: string): void => errors.invalid('providers.name', name, `provider name ${why}`);
  if (name.includes('/')) invalid("cannot contain '/'");
  if (name.includes(' ')) invalid('cannot contain spaces');
  if (name === '.' || name === '..') invalid(`cannot be '${name}'`);
}

function checkItself({ apiVersion, matchImages, defaultCacheMs }: ProviderSpec, errors: FieldErrors): void {
  if (apiVersion === '') errors.required('providers.apiVersion');
  else if (!versions.includes(apiVersion)) errors.notSupported('providers.apiVersion', apiVersion, versions);
  if (matchImages.length === 0) errors.required('providers.matchImages', 'at least 1 item in matchImages is required');
  for (const image of matchImages) {
    const fault = registryLocationFault(image);
    if (fault !== undefined) errors.invalid('providers.matchImages', image, `match image is invalid: ${fault}`);
  }
  if (defaultCacheMs === undefined) errors.required('providers.defaultCacheDuration');
  else if (defaultCacheMs < 0) errors.invalid('providers.defaultCacheDuration', undefined, 'must be greater than or equal to 0');
}

function checkTokens({ apiVersion, tokenAttributes: tokens }: ProviderSpec, mayHaveTokens: boolean, errors: FieldErrors): void {
  if (!tokens) return;
  const at = 'providers.tokenAttributes';
  const requiredAt = `${at}.requiredServiceAccountAnnotationKeys`;
  const { audience, cacheType, required, requiredKeys, optionalKeys } = tokens;
  if (!mayHaveTokens)
    errors.forbidden(at, 'tokenAttributes is not supported when KubeletServiceAccountTokenForCredentialProviders feature gate is disabled');
  if (versions.includes(apiVersion) && apiVersion !== V1) errors.forbidden(at, `tokenAttributes is only supported for ${V1} API version`);
  if (audience === '') errors.required(`${at}.serviceAccountTokenAudience`);
  if (required === undefined) errors.required(`${at}.requireServiceAccount`);
  else if (!required && requiredKeys.length > 0)
    errors.forbidden(requiredAt, 'requireServiceAccount cannot be false when requiredServiceAccountAnnotationKeys is set');
  checkKeys(requiredAt, requiredKeys, errors);
  checkKeys(`${at}.optionalServiceAccountAnnotationKeys`, optionalKeys, errors);
  const both = requiredKeys.filter((key) => optionalKeys.includes(key));
  if (both.length > 0) errors.invalid(at, both, 'annotation keys cannot be both required and optional');
  const cacheTypeAt = `${at}.cacheType`;
  if (cacheType === '')
    errors.required(
      cacheTypeAt,
      `cacheType is required to be set when tokenAttributes is specified. Supported values are: ${cacheTypes.join(', ')}`,
    );
  else if (!cacheTypes.includes(cacheType)) errors.notSupported(cacheTypeAt, cacheType, cacheTypes);
}

function checkKeys(field: string, keys: readonly string[], errors: FieldErrors): void {
  for (const [i, key] of keys.entries()) {
    errors.invalidEach(field, key, isQualifiedName(key.toLowerCase()));
    if (keys.indexOf(key) < i) errors.duplicate(field, key);
  }
}
