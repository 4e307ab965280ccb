/** What the kernel takes as a node name, in bytes. */
const FQDN_MAX = 64;

/**
 * The name that `hostname` prints inside a pod: with the domain where the spec sets setHostnameAsFQDN. Throws when that is too long
 * (pkg/kubelet/util GetNodenameForKernel).
 */
export function kernelHostname(hostname: string, domain: string, setHostnameAsFqdn: boolean | undefined): string {
  if (!setHostnameAsFqdn || domain === '') return hostname;
  const fqdn = `${hostname}.${domain}`;
  const size = Buffer.byteLength(fqdn);
  if (size <= FQDN_MAX) return fqdn;
  throw new Error(
    `failed to construct FQDN from pod hostname and cluster domain, FQDN ${fqdn} is too long (${FQDN_MAX} characters is the max, ${size} characters requested)`,
  );
}
