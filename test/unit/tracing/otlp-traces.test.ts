import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { otlpTraces } from '../../../src/tracing/otlp-traces.ts';
import type { Span, SpanAttributes } from '../../../src/tracing/span.ts';
import { decodeMessage } from '../../fakes/otlp-receiver.ts';

const origin = { resource: { 'service.name': 'kubelet', 'host.name': 'n1' }, scope: { name: 'a scope', version: '1' } };

const hex = (digits: number): fc.Arbitrary<string> =>
  fc
    .array(fc.integer({ min: 0, max: 15 }), { minLength: digits, maxLength: digits })
    .map((all) => all.map((digit) => digit.toString(16)).join(''));
/** Without halves of characters, which no message can hold. */
const text = fc.string({ unit: 'grapheme', maxLength: 300 });
const attributes: fc.Arbitrary<SpanAttributes> = fc.dictionary(
  text.filter((key) => key !== '__proto__'),
  fc.oneof(
    text,
    fc.boolean(),
    fc.integer(),
    fc.double({ noNaN: true, noDefaultInfinity: true }),
    fc.maxSafeNat(),
    fc.array(text, { maxLength: 5 }),
  ),
  { maxKeys: 8 },
);
const span: fc.Arbitrary<Span> = fc.record({
  traceId: hex(32),
  spanId: hex(16),
  parentSpanId: fc.option(hex(16), { nil: undefined }),
  name: text,
  kind: fc.constantFrom('internal', 'server', 'client'),
  startMs: fc.integer({ min: 0, max: 4e12 }),
  endMs: fc.integer({ min: 0, max: 4e12 }),
  attributes,
  error: fc.option(text, { nil: undefined }),
});

test('what is written is what a reader of protocol buffers reads, whatever it is', () => {
  fc.assert(
    fc.property(fc.array(span, { maxLength: 20 }), (spans) => {
      const read = decodeMessage(otlpTraces(spans, origin));
      assert.deepEqual(read.resource, origin.resource);
      assert.equal(read.scope, 'a scope');
      assert.deepEqual(
        read.spans,
        spans.map((each) => ({
          ...each,
          parentSpanId: each.parentSpanId ?? '',
          kind: each.kind.toUpperCase(),
          attributes: Object.fromEntries(Object.entries(each.attributes).map(([key, value]) => [key, Object.is(value, -0) ? 0 : value])),
        })),
      );
    }),
  );
});

test('a half of a character is replaced: the message stays one that can be read', () => {
  const one: Span = {
    traceId: 'a'.repeat(32),
    spanId: 'b'.repeat(16),
    parentSpanId: undefined,
    name: 'x\uD800y',
    kind: 'internal',
    startMs: 1,
    endMs: 2,
    attributes: {},
    error: undefined,
  };
  assert.equal(decodeMessage(otlpTraces([one], origin)).spans[0]?.name, 'x\uFFFDy');
});
