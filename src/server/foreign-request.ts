import type { IncomingHttpHeaders } from 'node:http';
import { isLoopbackName } from '../base/loopback-address.ts';

/**
 * Why a request is none of this machine's people; undefined: it is one. A browser on this machine reaches what a stranger cannot, and makes
 * requests for every site that is open in it: in the site's name (Origin, Sec-Fetch-Site), or, where the site's name server says that the
 * site is this machine now, with the site's name as the host (DNS rebinding).
 */
export function foreignRequest(headers: IncomingHttpHeaders): string | undefined {
  const { host = '', origin, 'sec-fetch-site': site } = headers;
  const name = URL.parse(`http://${host}`)?.hostname ?? '';
  if (!isLoopbackName(name)) {
    return `the host ${JSON.stringify(host)} is not this machine's own name: ask for localhost, 127.0.0.1 or [::1]\n`;
  }
  if (site !== undefined && site !== 'same-origin' && site !== 'none')
    return 'another site asked for this: open the address by hand, not by a link\n';
  if (origin !== undefined && origin !== `http://${host}`) return `the site ${JSON.stringify(origin)} may not ask for this\n`;
  return undefined;
}
