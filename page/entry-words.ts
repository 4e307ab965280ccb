import type { ReconciledFields, StreamEntry } from '../src/model/stream-entry.ts';

const isLook = (fields: StreamEntry['fields']): fields is StreamEntry['fields'] & ReconciledFields =>
  Array.isArray(fields['actions']) && Array.isArray(fields['because']);

/** What an entry says, in a line: of a look at a pod what was done and why; else its phrase and its fields. */
export function entryWords({ message, fields }: StreamEntry): string {
  if (message === 'reconciled' && isLook(fields)) {
    const did = fields.actions.map(
      ({ do: what, name, error }) => `${what}${name === undefined ? '' : ` ${name}`}${error === undefined ? '' : `: ${error}`}`,
    );
    return `${did.join(', ') || 'nothing to do'}; because ${fields.because.join('; ')}${fields.failed === undefined ? '' : `; failed: ${fields.failed}`}`;
  }
  if (message === 'event') return `${String(fields['reason'])}: ${String(fields['message'])}`;
  return [
    message,
    ...Object.entries(fields).map(([name, value]) => `${name}=${typeof value === 'string' ? value : JSON.stringify(value)}`),
  ].join(' ');
}

/** Whether something went wrong. */
export const isLoud = ({ level, fields }: StreamEntry): boolean => level === 'error' || level === 'warning' || fields['type'] === 'Warning';
