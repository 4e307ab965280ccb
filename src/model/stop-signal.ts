import { constants } from 'node:os';

const byNumber = new Map(Object.entries(constants.signals).map(([name, number]) => [String(number), name]));

/** A signal as Kubernetes writes it, "SIGUSR1", of one as images write it: "USR1", "sigusr1", "10"; none is SIGTERM. */
export function stopSignalOf(text: unknown): string {
  const name = typeof text === 'string' ? text.toUpperCase() : '';
  if (name === '') return 'SIGTERM';
  return byNumber.get(name) ?? (name.startsWith('SIG') ? name : `SIG${name}`);
}
