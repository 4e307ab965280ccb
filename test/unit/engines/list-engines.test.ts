import assert from 'node:assert/strict';
import { afterEach, beforeEach, test } from 'node:test';
import { systemClock } from '../../../src/base/clock.ts';
import { RuntimeService } from '../../../src/engines/cri/api/runtime_pb.js';
import { listEngines } from '../../../src/engines/list-engines.ts';
import { CriServer } from '../../fakes/cri-server.ts';

const { version, status, getContainerEvents } = RuntimeService.method;
const never = new AbortController().signal;

let cri: CriServer;
beforeEach(async () => {
  cri = await CriServer.listen();
  cri.answer(version, () => ({ version: '0.1.0', runtimeName: 'containerd', runtimeVersion: 'v2.1.9', runtimeApiVersion: 'v1' }));
});
afterEach(() => cri[Symbol.asyncDispose]());

test('a runtime that speaks CRI is listed with what it can do', async () => {
  cri.answer(status, () => ({
    status: { conditions: [] },
    runtimeHandlers: [{ name: '', features: { userNamespaces: true, recursiveReadOnlyMounts: true } }],
    features: { supplementalGroupsPolicy: true },
  }));
  cri.on(getContainerEvents, () => {});
  const [listed] = await listEngines([cri.endpoint], systemClock, never);
  assert.ok(listed?.answers);
  const { name, version: ofEngine, api, features } = listed;
  assert.deepEqual([name, ofEngine, api], ['containerd', 'v2.1.9', 'CRI v1']);
  assert.deepEqual(
    { ...features, cgroups: undefined },
    {
      handlers: [{ name: '', userNamespaces: true, recursiveReadOnly: true }],
      supplementalGroupsPolicy: true,
      imageVolumes: 'often',
      cgroups: undefined,
      events: true,
      resize: true,
    },
  );
});

test('one without events is listed as that', async () => {
  cri.answer(status, () => ({}));
  const [listed] = await listEngines([cri.endpoint], systemClock, never);
  assert.equal(listed?.answers && listed.features?.events, false);
});

test('one that fails to say what it can do is listed with why', async () => {
  cri.on(status, (call) => call.end('Internal', 'no disk left'));
  const [listed] = await listEngines([cri.endpoint], systemClock, never);
  assert.ok(listed?.answers && listed.features === undefined);
  assert.match(listed.problem ?? '', /no disk left/);
});
