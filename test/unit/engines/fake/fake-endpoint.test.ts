import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fakeEndpointOptions } from '../../../../src/engines/fake/fake-endpoint.ts';

for (const [endpoint, options] of [
  ['unix:///var/run/docker.sock', undefined],
  ['fake://', {}],
  ['fake:///', {}],
  ['fake://?latency=20ms', { latencyMs: 20 }],
  ['fake://?latency=0', { latencyMs: 0 }],
  ['fake://?latency=500us', { latencyMs: 0.5 }],
] as const)
  test(`${endpoint} is ${options ? `the embedded engine with ${JSON.stringify(options)}` : 'another engine'}`, () =>
    assert.deepEqual(fakeEndpointOptions(endpoint), options));

for (const [endpoint, words] of [
  ['fake://host', /endpoint fake:\/\/host: expected fake:\/\/ or fake:\/\/\?latency=DURATION/],
  ['fake://?speed=1', /unknown option "speed", expected latency/],
  ['fake://?latency=fast', /invalid duration "fast"/],
  ['fake://?latency=-1s', /latency is negative/],
] as const)
  test(`${endpoint} is refused`, () => assert.throws(() => fakeEndpointOptions(endpoint), words));
