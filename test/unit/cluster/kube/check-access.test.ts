import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { ApiUnreachableError } from '../../../../src/model/api-error.ts';
import { checkAccess, explainNodeName } from '../../../../src/cluster/kube/check-access.ts';
import { type ClusterAccess, fixedCredentials } from '../../../../src/cluster/kube/cluster-access.ts';
import type { OwnedKubeClients } from '../../../../src/cluster/kube/kube-clients.ts';
import { KubeconfigError } from '../../../../src/cluster/kube/kubeconfig-error.ts';
import { aCa } from '../../../builders/a-pki.ts';
import { clientsFor } from '../../../builders/clients-under-test.ts';
import { FakeClock } from '../../../fakes/fake-clock.ts';
import { ScriptedApiServer } from '../../../fakes/scripted-api-server.ts';

const ca = aCa();
const identity = ca.issue({ commonName: 'system:node:b' });
const never = new AbortController().signal;

let server: ScriptedApiServer;
let clock: FakeClock;
let clients: OwnedKubeClients;
beforeEach(async () => {
  server = await ScriptedApiServer.start(ca.issue({ commonName: 'api', hosts: ['127.0.0.1'] }));
  clock = new FakeClock();
});
afterEach(async () => {
  await clients.close();
  await server.stop();
});

function check(over: Partial<ClusterAccess> = {}): Promise<void> {
  const access = {
    server: server.url,
    caPem: ca.pem,
    credentials: fixedCredentials({ identity }),
    origin: 'kubeconfig k, context "c"',
    ...over,
  };
  clients = clientsFor(access, { clock });
  return checkAccess({ api: clients.main, access, nodeName: 'a', clock }, never);
}

for (const status of [200, 404]) {
  test(`an answer of ${status} is fine`, async () => {
    const checked = check();
    const request = await server.next();
    assert.equal(request.path, '/api/v1/nodes/a');
    request.answer(status, {});
    await checked;
  });
}

describe('the kubeconfig cannot work when', () => {
  test('the server refuses the user: its answer is said, and whose certificate it is', async () => {
    const checked = check();
    const rejected = assert.rejects(checked, {
      name: 'KubeconfigError',
      fault: 'refused',
      message: `kubeconfig k, context "c": the API server ${server.url} refuses (403 Forbidden): nodes "a" is forbidden; its client certificate is that of node "b", and this node is named "a": give it that name with --hostname-override, or a certificate of its own`,
    });
    (await server.next()).answer(403, { kind: 'Status', reason: 'Forbidden', message: 'nodes "a" is forbidden' });
    await rejected;
  });

  test('the server does not know the user', async () => {
    const rejected = assert.rejects(check({ credentials: fixedCredentials({ authorization: 'Bearer x' }) }), {
      fault: 'refused',
      message: `kubeconfig k, context "c": the API server ${server.url} refuses (401 Unauthorized): Unauthorized`,
    });
    (await server.next()).answer(401, { kind: 'Status', reason: 'Unauthorized', message: 'Unauthorized' });
    await rejected;
  });

  test('its CA is not the server’s', async () => {
    await assert.rejects(
      check({ caPem: aCa('other').pem }),
      (error) =>
        error instanceof KubeconfigError &&
        error.fault === 'untrusted' &&
        /^kubeconfig k, context "c": GET .* signed by/.test(error.message),
    );
  });
});

describe('it may work later when', () => {
  test('nobody answers within four seconds', async () => {
    const rejected = assert.rejects(check(), {
      name: 'ApiUnreachableError',
      message: `the API server ${server.url} did not answer within 4 s`,
    });
    await server.next();
    await clock.advance(4_000);
    await rejected;
  });

  test('the server asks to come again later', async () => {
    const rejected = assert.rejects(check(), ApiUnreachableError);
    (await server.next()).answer(429, 'busy', { 'retry-after': '1' });
    for (let tries = 0; tries < 4; tries++) {
      await new Promise((done) => setImmediate(done));
      await clock.advance(1_000);
    }
    await rejected;
  });

  test('the server is not ready', async () => {
    const rejected = assert.rejects(check(), { name: 'ApiUnreachableError', message: /is not ready: .*starting/ });
    (await server.next()).answer(500, 'starting');
    await rejected;
  });

  test('the server is down', async () => {
    await server.stop();
    await assert.rejects(check(), { name: 'ApiUnreachableError', message: /connection refused/ });
  });
});

test('only another node’s certificate is explained', () => {
  const certificateOf = (commonName: string) => ca.issue({ commonName });
  assert.equal(explainNodeName(certificateOf('system:node:a'), 'a'), undefined);
  assert.equal(explainNodeName(certificateOf('admin'), 'a'), undefined);
  assert.match(explainNodeName(certificateOf('system:node:b'), 'a') ?? '', /that of node "b"/);
});
