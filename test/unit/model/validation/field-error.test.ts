import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FieldErrors, formatFieldError } from '../../../../src/model/validation/field-error.ts';

const lines: readonly (readonly [add: (errors: FieldErrors) => void, line: string])[] = [
  [(e) => e.required('a', 'why'), 'a: Required value: why'],
  [(e) => e.required('a'), 'a: Required value'],
  [(e) => e.invalid('a', 'x"', 'why'), 'a: Invalid value: "x\\"": why'],
  [(e) => e.invalid('a', 5, 'why'), 'a: Invalid value: 5: why'],
  [(e) => e.notSupported('a', 'x', ['b', 'c']), 'a: Unsupported value: "x": supported values: "b", "c"'],
  [(e) => e.duplicate('a', 'x'), 'a: Duplicate value: "x"'],
  [(e) => e.notFound('a', 'x'), 'a: Not found: "x"'],
  [(e) => e.forbidden('a', 'why'), 'a: Forbidden: why'],
  [(e) => e.tooLong('a', 63), 'a: Too long: may not be more than 63 bytes'],
];

for (const [add, line] of lines) {
  test(`an error reads as Kubernetes prints it: ${line}`, () => {
    const errors = new FieldErrors();
    add(errors);
    assert.deepEqual(errors.all.map(formatFieldError), [line]);
  });
}
