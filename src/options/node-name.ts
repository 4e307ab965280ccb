import { trimSpace } from '../model/go-text.ts';

/**
 * The node's name: the override or else the host's name, without surrounding blanks, lower-cased (pkg/util/node GetHostname).
 * Undefined when nothing is left.
 */
export function nodeNameOf(override: string, hostname: string): string | undefined {
  const name = trimSpace(override === '' ? hostname : override).toLowerCase();
  return name === '' ? undefined : name;
}
