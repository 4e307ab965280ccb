import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Section } from '../../../../src/model/spec-ledger/entry.ts';
import { podSpecLedger } from '../../../../src/model/spec-ledger/pod-spec.ts';
import { podSchema } from '../../../../src/sources/pod-schema.ts';

const schema = podSchema();
let judged = 0;

/** Every type that the ledger reaches must have just the fields that Kubernetes has. */
function compare({ type, fields }: Section, at: string, faults: string[]): void {
  const known = schema(type);
  const dropped: ReadonlySet<string> = new Set(type === 'EphemeralVolumeSource' ? ['readOnly'] : []);
  for (const name of known.keys()) if (!(name in fields) && !dropped.has(name)) faults.push(`${at}.${name} has no entry`);
  for (const [name, entry] of Object.entries(fields)) {
    judged++;
    const field = known.get(name);
    if (field === undefined) {
      faults.push(`${at}.${name} is no field`);
      continue;
    }
    const kind = field.kind.is === 'list' ? field.kind.of : field.kind;
    if (!('fields' in entry)) {
      // What is honoured is so field by field: no subtree hides behind one word, unless another sees to it.
      if (kind.is === 'object' && entry.is === 'honoured' && entry.by === undefined) faults.push(`${at}.${name} needs its own fields`);
      continue;
    }
    if (kind.is !== 'object' || kind.type !== entry.type) faults.push(`${at}.${name} is no ${entry.type}`);
    else compare(entry, `${at}.${name}`, faults);
  }
}

test('every field of a pod spec, and of everything below it, has exactly one entry', () => {
  const faults: string[] = [];
  compare(podSpecLedger, 'spec', faults);
  assert.deepEqual(faults, []);
  assert.ok(judged > 250, `only ${judged} fields were compared`);
});
