import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ContainerStartError } from '../../../src/model/container-start-error.ts';
import { Quantity } from '../../../src/model/quantity.ts';
import { SandboxImageMissingError } from '../../../src/model/sandbox-image-missing-error.ts';
import { SomePods } from '../../../src/ports/pod-source.ts';
import { fromJson, toJson } from '../../../src/recording/value-json.ts';
import { aPod } from '../../builders/a-pod.ts';

const throughText = (value: unknown): unknown => fromJson(JSON.parse(JSON.stringify(toJson(value))));

test('what JSON has no form for comes back as it was', () => {
  const value = {
    map: new Map([['a', new Set([1, 2n])]]),
    list: [undefined, null, Number.POSITIVE_INFINITY],
    some: new SomePods({ put: [aPod('web')], gone: [] }),
  };
  assert.deepEqual(throughText(value), value);
  assert.equal(String(throughText(Quantity.parse('1500m'))), '1500m');
});

test('errors keep their class, their words, their causes and their own fields', () => {
  const cause = Object.assign(new Error('no route'), { code: 'EHOSTUNREACH' });
  const start = throughText(new ContainerStartError('ErrImagePull', 'not pulled', { cause, retryAtMs: 7 })) as ContainerStartError;
  assert.ok(start instanceof ContainerStartError);
  assert.deepEqual(
    [start.reason, start.message, start.retryAtMs, (start.cause as { code: string }).code],
    ['ErrImagePull', 'not pulled', 7, 'EHOSTUNREACH'],
  );
  const sandbox = throughText(new SandboxImageMissingError('default/web', 'pause:3', 'no such image')) as SandboxImageMissingError;
  assert.ok(sandbox instanceof SandboxImageMissingError);
  assert.deepEqual([sandbox.image, sandbox.message], ['pause:3', 'failed to create a sandbox for pod "default/web": no such image']);
});

test('a value that contains itself is refused', () => {
  const endless: { self?: unknown } = {};
  endless.self = endless;
  assert.throws(() => toJson(endless), /nests deeper than 100 levels/);
});

test('an object with a field like the mark of what JSON has no form for is what it was', () => {
  for (const value of [
    { $: 'undefined' },
    { $: 'map', of: 7 },
    { $: 1 },
    { $: { $: 'set' } },
    { options: { $: 'no such kind', more: 'x' } },
  ])
    assert.deepEqual(fromJson(JSON.parse(JSON.stringify(toJson(value)))), value);
});

test('of an error only what is plain is written: a connection that it holds on to is not', () => {
  class Connection {
    readonly self = [this, this];
  }
  const error = Object.assign(new Error('broken'), { code: 'ECONNRESET', socket: new Connection(), details: { tries: 2 } });
  const back = throughText(error) as typeof error;
  assert.deepEqual([back.message, back.code, back.details, back.socket], ['broken', 'ECONNRESET', { tries: 2 }, undefined]);
});
