import assert from 'node:assert/strict';
import { test } from 'node:test';
import { aCa } from '../../../builders/a-pki.ts';
import { runInSmallProcess } from '../../../builders/small-process.ts';
import { ScriptedApiServer } from '../../../fakes/scripted-api-server.ts';

const ca = aCa();
const src = (path: string): string => JSON.stringify(new URL(`../../../../src/${path}`, import.meta.url).href);

/** A process of its own: one that spins could not even be stopped by a deadline of its own. */
const giveUp = (server: string): string => `
  import { ApiTransport } from ${src('cluster/kube/api-transport.ts')};
  import { fixedCredentials } from ${src('cluster/kube/cluster-access.ts')};
  import { systemClock } from ${src('base/clock.ts')};
  const access = { server: ${JSON.stringify(server)}, caPem: ${JSON.stringify(ca.pem)}, credentials: fixedCredentials({}), origin: 'a test' };
  const transport = new ApiTransport({ access, clock: systemClock, log: { v() {}, info() {}, warn() {}, error() {} }, silence: undefined, tell: { apiRequested() {}, apiRequestWaited() {} }, tracing: { within: (_work, run) => run() }, userAgent: 'a-test' });
  const turn = () => new Promise((resolve) => setImmediate(resolve));
  const hello = await transport.open({ method: 'GET', path: '/' }, new AbortController().signal);
  await hello.body.text();
  const moments = [() => {}, () => Promise.resolve(), turn, async () => { await turn(); await turn(); }];
  let given = 0;
  for (const bytes of [1, 100_000, 10_000_000]) {
    for (const moment of moments) {
      const waiting = new AbortController();
      const answer = transport.open({ method: 'PATCH', path: '/', body: 'x'.repeat(bytes) }, waiting.signal);
      await moment();
      waiting.abort(new Error('given up'));
      await answer.catch(() => given++);
      await turn();
    }
  }
  await transport.close();
  console.log(given + ' given up');
`;

test('a request that is given up while its body is on its way ends, and the agent goes on', async (t) => {
  const server = await ScriptedApiServer.start(ca.issue({ commonName: 'api', hosts: ['127.0.0.1'] }));
  t.after(() => server.stop());
  void server.next().then((hello) => hello.answer(200, {}));
  const printed = await runInSmallProcess(giveUp(server.url), { heapMiB: 256, descriptors: 256 }, AbortSignal.timeout(30_000));
  assert.equal(printed, '12 given up\n');
});
