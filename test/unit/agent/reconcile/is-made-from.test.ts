import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isMadeFrom } from '../../../../src/agent/reconcile/is-made-from.ts';
import { containerHash, wholeContainerHash } from '../../../../src/model/container-hash.ts';
import { aContainer } from '../../../builders/a-pod.ts';

const digest = (digit: string): string => `sha256:${digit.repeat(64)}`;
const id = digest('1');
const wanted = aContainer('app', { image: 'registry.example/app:2', args: ['--new'] });

test("today's hash decides alone", () => {
  for (const imageNames of [undefined, [id], ['registry.example/app:2']])
    assert.ok(isMadeFrom({ specHash: containerHash(wanted), imageNames }, wanted));
  const before = containerHash({ ...wanted, image: 'registry.example/app:1' });
  assert.ok(!isMadeFrom({ specHash: before, imageNames: undefined }, wanted));
  // Kubernetes makes it again also where both names mean the same image.
  assert.ok(!isMadeFrom({ specHash: before, imageNames: [id, 'registry.example/app:1', 'registry.example/app:2'] }, wanted));
});

test('a hash of the whole spec stands for itself', () => {
  assert.ok(isMadeFrom({ specHash: wholeContainerHash(wanted), imageNames: undefined }, wanted));
  assert.ok(!isMadeFrom({ specHash: wholeContainerHash({ ...wanted, args: [] }), imageNames: undefined }, wanted));
});

const table: readonly (readonly [image: string, names: readonly string[], same: boolean])[] = [
  ['busybox:1', [id, 'busybox:1'], true],
  ['docker.io/library/busybox:1', [id, 'busybox:1'], true],
  ['busybox', [id, 'busybox:latest', `busybox@${digest('2')}`], true],
  ['busybox:2', [id, 'busybox:1', `busybox@${digest('2')}`], false],
  ['busybox:2', [id, 'busybox:1', 'busybox:2'], true],
  ['busybox:1', [id, 'registry.example/busybox:1'], false],
  // Its tag is at a newer image by now.
  ['busybox:1', [id, `busybox@${digest('2')}`], true],
  ['busybox:1', [id, `other@${digest('2')}`], false],
  ['busybox:1', [id], false],
  [`busybox@${digest('2')}`, [id, 'busybox:1', `busybox@${digest('2')}`], true],
  [`busybox:1@${digest('2')}`, [id, `docker.io/library/busybox@${digest('2')}`], true],
  [`busybox:1@${digest('3')}`, [id, 'busybox:1', `busybox@${digest('2')}`], false],
  [id, [id, 'busybox:1'], true],
  [digest('4'), [id, 'busybox:1'], false],
  ['Not:a:name', [id, 'busybox:1'], false],
  ['', [id, '<none>:<none>'], false],
];
for (const [image, imageNames, same] of table)
  test(`of another hash, ${image || 'no image'} ${same ? 'is' : 'is not'} what the engine calls ${imageNames.join(', ')}`, () => {
    assert.equal(isMadeFrom({ specHash: 'cafe', imageNames }, { ...wanted, image }), same);
  });
