import type { Cause } from '../../model/explanation.ts';
import { oneLine } from './crash-cause.ts';

interface LocalLimit {
  readonly is: RegExp;
  readonly what: (found: RegExpExecArray) => string;
  readonly advice: string;
}

/** What the kubelet says of a pod that wrote more than it may (localStorageEviction in pkg/kubelet/eviction). */
const localLimits: readonly LocalLimit[] = [
  {
    is: /^Usage of EmptyDir volume "([^"]*)" exceeds the limit "([^"]*)"/,
    what: ([, volume, limit]) => `its volume ${volume} holds more than its sizeLimit of ${limit}`,
    advice: 'write less into the volume, or raise its emptyDir.sizeLimit',
  },
  {
    is: /^Container (\S+) exceeded its local ephemeral storage limit "([^"]*)"/,
    what: ([, container, limit]) => `container ${container} wrote more than its limit of ${limit} of local disk (ephemeral-storage)`,
    advice: 'write less into the container and its log, or raise resources.limits.ephemeral-storage',
  },
  {
    is: /^Pod ephemeral local storage usage exceeds the total limit of containers (\S+?)\.?(?:\s|$)/,
    what: ([, limit]) => `its containers together wrote more than their limit of ${limit} of local disk (ephemeral-storage)`,
    advice: 'write less into the containers, their logs and emptyDir volumes, or raise resources.limits.ephemeral-storage',
  },
];

/** Why a pod with reason Evicted has ended, or was not let in. */
export function evictedCause(message: string): Cause {
  const said = message.replace(/^Pod was rejected: /, '');
  if (said !== message)
    return {
      code: 'node-pressure',
      kind: 'fault',
      text: `it may not run here: the node is short of room: ${oneLine(said)}`,
      detail: message,
      advice: 'make room on the node (rxlet explain node)',
    };
  for (const { is, what, advice } of localLimits) {
    const found = is.exec(message);
    if (found) return { code: 'over-its-disk-limit', kind: 'fault', text: `it was evicted: ${what(found)}`, detail: message, advice };
  }
  return {
    code: 'evicted',
    kind: 'fault',
    text: `it was evicted: ${oneLine(message)}`,
    detail: message,
    advice: 'give it requests that cover its use, or make room on the node (rxlet explain node)',
  };
}
