import type { RawPod } from '../pod.ts';
import type { Section, Verdict } from './entry.ts';
import { podSpecLedger } from './pod-spec.ts';

/** A field that a pod uses and that is not honoured as it is written. */
export interface UnhonouredField {
  /** As "spec.volumes[0].csi". */
  readonly field: string;
  readonly is: Exclude<Verdict['is'], 'honoured'>;
  /** How, why or with which words. */
  readonly note: string;
}

/** Everything that a pod asks for and will not have as it asks, in the order of its fields. */
export function unhonouredFields({ spec }: Pick<RawPod, 'spec'>): readonly UnhonouredField[] {
  return spec === undefined ? [] : within(podSpecLedger, spec, 'spec');
}

/** On one line: "spec.hostUsers is refused: …". */
export const explainUnhonoured = ({ field, is, note }: UnhonouredField): string => `${field} is ${is}: ${note}`;

function within({ fields, also }: Section, value: object, at: string): UnhonouredField[] {
  const found = also ? judged(also, value, at) : [];
  for (const [name, entry] of Object.entries(fields)) {
    const field: unknown = Reflect.get(value, name);
    if (!isUsed(field)) continue;
    const path = `${at}.${name}`;
    if ('is' in entry) found.push(...judged(entry, field, path));
    else if (Array.isArray(field)) for (const [i, item] of field.entries()) found.push(...ofObject(entry, item, `${path}[${i}]`));
    else found.push(...ofObject(entry, field, path));
  }
  return found;
}

function ofObject(entry: Section, value: unknown, path: string): UnhonouredField[] {
  return typeof value === 'object' && value !== null ? within(entry, value, path) : [];
}

function judged(verdict: Verdict, value: unknown, field: string): UnhonouredField[] {
  if (verdict.is === 'honoured') return [];
  if (verdict.when && !verdict.when.holds(value)) return [];
  return [{ field, is: verdict.is, note: verdict.note }];
}

/** An empty list or map asks for nothing; false and zero may. */
function isUsed(value: unknown): boolean {
  if (value === undefined || value === null || value === '') return false;
  return typeof value !== 'object' || Object.keys(value).length > 0;
}
