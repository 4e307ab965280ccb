import { trimSpace } from '../model/go-text.ts';
import { isDns1123Subdomain } from '../model/validation/formats.ts';

/**
 * The node's name: the override or else the host's name, without surrounding blanks, lower-cased (pkg/util/node GetHostname).
 * Undefined when nothing is left.
 */
export function nodeNameOf(override: string, hostname: string): string | undefined {
  const name = trimSpace(override === '' ? hostname : override).toLowerCase();
  return name === '' ? undefined : name;
}

/** Why no pod could run under this name, which ends the names of static pods and names the Node: one sentence each. */
export const nodeNameFaults = (name: string): readonly string[] =>
  isDns1123Subdomain(name).map((fault) => `the node's name ${JSON.stringify(name)} (--hostname-override): ${fault}`);
