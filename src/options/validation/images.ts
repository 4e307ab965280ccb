import { applyDefaultImageTag, ImageNameError, parseImageName } from '../../model/image-name.ts';
import { type CheckedSettings, invalid, type Rule } from './checked-settings.ts';
import { unknownWord } from './unknown-word.ts';

/** Image pulls, and which images stay. */
export const images: Rule = (of) => [...collection(of), ...pulls(of), ...verification(of)];

function collection(of: CheckedSettings): readonly (string | false)[] {
  const [low, high] = [of.number('imageGCLowThresholdPercent'), of.number('imageGCHighThresholdPercent')];
  const [oldestMs, youngestMs] = [of.number('imageMaximumGCAge'), of.number('imageMinimumGCAge')];
  const [oldest, youngest] = [of.duration('imageMaximumGCAge'), of.duration('imageMinimumGCAge')];
  return [
    low >= high &&
      invalid(
        `imageGCLowThresholdPercent (--image-gc-low-threshold) ${low} must be less than imageGCHighThresholdPercent (--image-gc-high-threshold) ${high}`,
      ),
    youngestMs < 0 && invalid(`imageMinimumGCAge ${youngest} must not be negative`),
    oldestMs < 0 && invalid(`imageMaximumGCAge ${oldest} must not be negative`),
    oldestMs > 0 && oldestMs <= youngestMs && invalid(`imageMaximumGCAge ${oldest} must be greater than imageMinimumGCAge ${youngest}`),
  ];
}

function pulls(of: CheckedSettings): readonly (string | false)[] {
  if (!of.has('maxParallelImagePulls')) return [];
  const parallel = of.number('maxParallelImagePulls');
  return [
    parallel < 1 && invalid(`maxParallelImagePulls ${parallel} must be a positive number`),
    parallel > 1 &&
      of.isOn('serializeImagePulls') &&
      invalid('maxParallelImagePulls cannot be larger than 1 unless SerializeImagePulls (--serialize-image-pulls) is set to false'),
  ];
}

const policies = ['NeverVerify', 'NeverVerifyPreloadedImages', 'NeverVerifyAllowlistedImages', 'AlwaysVerify'];

function verification(of: CheckedSettings): readonly (string | false | undefined)[] {
  const policy = of.text('imagePullCredentialsVerificationPolicy');
  const allowed = of.texts('preloadedImagesVerificationAllowlist');
  if (!of.gate('KubeletEnsureSecretPulledImages')) {
    const missing = 'must not be set if KubeletEnsureSecretPulledImages feature gate is not enabled';
    return [
      policy !== '' && invalid(`\`imagePullCredentialsVerificationPolicy\` ${missing}`),
      allowed.length > 0 && invalid(`\`preloadedImagesVerificationAllowlist\` ${missing}`),
    ];
  }
  const wrong = allowed.map(patternFault).find((fault) => fault !== undefined);
  return [
    !policies.includes(policy) && invalid(unknownWord(policy, policies, 'imagePullCredentialsVerificationPolicy')),
    allowed.length > 0 && policy !== 'NeverVerifyAllowlistedImages'
      ? invalid(
          'can\'t set `preloadedImagesVerificationAllowlist` if `imagePullCredentialsVertificationPolicy` is not "NeverVerifyAllowlistedImages"',
        )
      : wrong !== undefined && invalid(`invalid image pattern in \`preloadedImagesVerificationAllowlist\`: ${wrong}`),
  ];
}

/** pkg/kubelet/images/pullmanager: an image without tag and digest, or all under a path that ends in "/*". */
function patternFault(pattern: string): string | undefined {
  if (pattern !== pattern.trim()) return `leading/trailing spaces are not allowed: ${pattern}`;
  const isWildcard = pattern.endsWith('/*');
  const prefix = isWildcard ? pattern.slice(0, -1) : pattern;
  if (prefix === '') return `the supplied pattern is too short: ${pattern}`;
  if (prefix.includes('*')) return `not a valid wildcard pattern, only patterns ending with '/*' are allowed: ${pattern}`;
  if (isWildcard) return prefix.length === 1 ? 'at least registry hostname is required' : undefined;
  try {
    parseImageName(pattern);
    const isWhole = applyDefaultImageTag(pattern) === pattern;
    return isWhole ? `neither tag nor digest is accepted in an image reference: ${pattern}` : undefined;
  } catch (error) {
    if (!(error instanceof ImageNameError)) throw error;
    return `failed to parse as an image name: ${error.message.replace("couldn't parse image name: ", '')}`;
  }
}
