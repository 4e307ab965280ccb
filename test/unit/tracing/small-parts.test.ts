import assert from 'node:assert/strict';
import { test } from 'node:test';
import { seededRandom } from '../../../src/base/seeded-random.ts';
import { collectorAddress } from '../../../src/tracing/collector-address.ts';
import { engineCallName } from '../../../src/tracing/describe-work.ts';
import { isSampled, spanIds } from '../../../src/tracing/span-ids.ts';
import { formatTraceParent, parseTraceParent } from '../../../src/tracing/trace-parent.ts';

const traceId = '4bf92f3577b34da6a3ce929d0e0e4736';
const spanId = '00f067aa0ba902b7';

test('traceparent is read as W3C has it, and anything else is no parent', () => {
  assert.deepEqual(parseTraceParent(`00-${traceId}-${spanId}-01`), { traceId, spanId, sampled: true });
  assert.deepEqual(parseTraceParent(` 00-${traceId}-${spanId}-00 `), { traceId, spanId, sampled: false });
  assert.deepEqual(parseTraceParent(`cc-${traceId}-${spanId}-03-what-comes-later`), { traceId, spanId, sampled: true });
  for (const wrong of [
    undefined,
    '',
    'x',
    `00-${traceId}-${spanId}-01-more`,
    `ff-${traceId}-${spanId}-01`,
    `00-${'0'.repeat(32)}-${spanId}-01`,
    `00-${traceId}-${'0'.repeat(16)}-01`,
    `00-${traceId.toUpperCase()}-${spanId}-01`,
    `00-${traceId}-${spanId}-1`,
    `00-${traceId}-${spanId}-01,00-${traceId}-${spanId}-01`,
    `01-${traceId}-${spanId}-01-${'x'.repeat(1_000_000)}`,
  ]) {
    assert.equal(parseTraceParent(wrong), undefined, wrong?.slice(0, 80));
  }
  assert.equal(formatTraceParent({ traceId, spanId, sampled: true }), `00-${traceId}-${spanId}-01`);
});

test('of many traces as many are sampled as the rate says; the same ones each time', () => {
  const ids = spanIds(seededRandom(7));
  const traces = Array.from({ length: 20_000 }, () => ids.traceId());
  assert.equal(new Set(traces).size, traces.length);
  for (const [rate, least, most] of [
    [0, 0, 0],
    [1_000, 5, 45],
    [250_000, 4_800, 5_200],
    [1_000_000, 20_000, 20_000],
  ] as const) {
    const sampled = traces.filter((id) => isSampled(id, rate));
    assert.ok(sampled.length >= least && sampled.length <= most, `${rate} per million: ${sampled.length} of 20000`);
    assert.deepEqual(
      traces.filter((id) => isSampled(id, rate)),
      sampled,
    );
  }
});

test('ids are never all zeros, which would be none', () => {
  const ids = spanIds(() => 0);
  assert.equal(ids.traceId(), `${'0'.repeat(31)}1`);
  assert.equal(ids.spanId(), `${'0'.repeat(15)}1`);
});

test('an endpoint is what gRPC takes for one', () => {
  assert.deepEqual(collectorAddress(''), { host: 'localhost', port: 4317 });
  assert.deepEqual(collectorAddress('otel:4317'), { host: 'otel', port: 4317 });
  assert.deepEqual(collectorAddress('otel'), { host: 'otel', port: 443 });
  assert.deepEqual(collectorAddress('[::1]:4317'), { host: '::1', port: 4317 });
  assert.deepEqual(collectorAddress('dns:///10.0.0.1:1'), { host: '10.0.0.1', port: 1 });
  assert.deepEqual(collectorAddress('dns://8.8.8.8/otel:1'), { host: 'otel', port: 1 });
  assert.deepEqual(collectorAddress('unix:///run/otel.sock'), { socketPath: '/run/otel.sock' });
  assert.deepEqual(collectorAddress('unix:otel.sock'), { socketPath: 'otel.sock' });
  assert.deepEqual(collectorAddress('unix-abstract:otel'), { socketPath: '\0otel' });
  for (const wrong of ['http://otel:1', 'otel:99999', 'a:b', ':1', '::1', 'unix:']) assert.equal(collectorAddress(wrong), undefined, wrong);
});

test('calls to the engine have few names, whatever is asked for', () => {
  for (const [what, name] of [
    ['POST /containers/create', 'POST /containers/create'],
    ['POST /containers/0123/start', 'POST /containers/{id}/start'],
    ['GET /containers/json?all=1&filters=x', 'GET /containers/json'],
    ['DELETE /images/registry:5000/a/b@sha256:1', 'DELETE /images/{id}'],
    ['GET /images/registry:5000/a/b:1/json', 'GET /images/{id}/json'],
    ['GET /events', 'GET /events'],
    ['GET /containers/0123/archive?path=/etc/shadow', 'GET /containers/{id}/archive'],
    ['CreateContainer', 'CreateContainer'],
  ] as const) {
    assert.equal(engineCallName(what), name);
  }
});
