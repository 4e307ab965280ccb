import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { verboseInfo } from '../../../../../src/engines/cri/observe/verbose-info.ts';

const spec = {
  process: { user: { uid: 1, gid: 2, additionalGids: [2, 3] }, args: ['sh', '-c', 'x'] },
  linux: { resources: { cpu: { shares: 2, quota: -1, period: 100_000, cpus: '0-1', mems: '' }, memory: { limit: 64 } } },
};

describe('what a verbose status adds', () => {
  test('is the user, the arguments and the limits of the container, and what it was made from', () => {
    assert.deepEqual(verboseInfo({ info: JSON.stringify({ runtimeSpec: spec, config: { hostname: 'pearl' } }) }), {
      user: { uid: 1, gid: 2, supplementalGroups: [2, 3] },
      args: ['sh', '-c', 'x'],
      resources: { cpu: { shares: 2, quota: -1, period: 100_000, cpus: '0-1', mems: '' }, memory: { limit: 64 } },
      config: { hostname: 'pearl' },
    });
  });

  for (const [what, text] of [
    ['nothing', undefined],
    ['no JSON', '{'],
    ['no object', '[1]'],
    ['other things', JSON.stringify({ runtimeSpec: { process: { user: 'root', args: [1] }, linux: 3 }, config: [] })],
    ['a user without a group', JSON.stringify({ runtimeSpec: { process: { user: { uid: 1 } } } })],
  ] as const)
    test(`is nothing where the runtime says ${what}`, () => assert.deepEqual(verboseInfo(text === undefined ? {} : { info: text }), {}));

  test('leaves out limits that are no numbers', () => {
    const resources = { cpu: { shares: 'many', cpus: 3 }, memory: { limit: null } };
    assert.deepEqual(verboseInfo({ info: JSON.stringify({ runtimeSpec: { linux: { resources } } }) }), {
      resources: { cpu: {}, memory: {} },
    });
  });
});
