import { parseImageName } from '../../model/image-name.ts';

/** Which images that are here may be used without credentials that could pull them (imagePullCredentialsVerificationPolicy). */
export interface VerificationPolicy {
  readonly policy: string;
  /** Images without tag and digest, or all under a path that ends in "/*" (preloadedImagesVerificationAllowlist). */
  readonly allowlist: readonly string[];
}

/** `unless preloaded`: an image that nothing here has pulled may be used by all. */
export type Verification = 'never' | 'unless preloaded' | 'always';

/** What the policy says of an image, as a pod names it (pkg/kubelet/images/pullmanager/image_pull_policies.go). A policy that is none verifies always. */
export function verificationOf({ policy, allowlist }: VerificationPolicy, image: string): Verification {
  switch (policy) {
    case 'NeverVerify':
      return 'never';
    case 'NeverVerifyPreloadedImages':
      return 'unless preloaded';
    case 'NeverVerifyAllowlistedImages': {
      const { repo } = parseImageName(image);
      const covers = (pattern: string): boolean => (pattern.endsWith('/*') ? repo.startsWith(pattern.slice(0, -1)) : repo === pattern);
      return allowlist.some(covers) ? 'never' : 'always';
    }
    default:
      return 'always';
  }
}
