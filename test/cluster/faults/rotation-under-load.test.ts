import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { controlPlane, kubeconfigOf, kubectl } from '../../builders/cluster-under-test.ts';
import { NodeInTrouble } from './node-in-trouble.ts';
import { restoreControlPlane } from './restore-control-plane.ts';

const ROTATIONS = 2;

/** So that a certificate is due a few seconds after it was issued, and good for most of a minute then: 5 minutes of its life have passed when it comes. */
async function signingDuration(): Promise<string> {
  const { serverVersion } = JSON.parse(await kubectl('version', '-o', 'json')) as { serverVersion: { minor: string } };
  // From 1.22 on these 5 minutes are not taken off a short life.
  return Number.parseInt(serverVersion.minor) < 22 ? '6m' : '1m';
}

describe('a client certificate that is renewed while pods come and go', { timeout: 240_000 }, () => {
  before(async () => {
    await controlPlane('stop', 'controller-manager');
    await controlPlane('start', 'controller-manager', '--', `--cluster-signing-duration=${await signingDuration()}`);
  });
  after(restoreControlPlane);

  test('costs no list, no error and no moment of being not Ready', async (t) => {
    const node = await NodeInTrouble.prepare(t);
    const { agent } = node;
    t.after(async () => {
      const requests = new Set(agent.lines.flatMap(({ csr }) => (typeof csr === 'string' ? [csr] : [])));
      if (requests.size > 0) await kubectl('delete', 'csr', '--ignore-not-found', ...requests);
    });
    const kubeconfig = join(agent.dir, 'kubelet.kubeconfig');
    node.run(`--bootstrap-kubeconfig=${kubeconfigOf('bootstrap')}`, `--kubeconfig=${kubeconfig}`, '--rotate-certificates');
    await node.ready();
    const replaced = (): number => agent.lines.filter(({ msg }) => msg === 'client certificate replaced').length;
    let pods = 0;
    let slowestMs = 0;
    // One pod comes while another one goes, and one more after the last renewal.
    for (let renewed = 0; renewed < ROTATIONS; pods++) {
      renewed = replaced();
      const createdAt = performance.now();
      await node.create(`p${pods}`);
      if (pods > 0) await node.remove(`p${pods - 1}`);
      await node.up(`p${pods}`);
      slowestMs = Math.max(slowestMs, performance.now() - createdAt);
      if (pods > 0) await node.until(`p${pods - 1} is gone`, () => node.pod(`p${pods - 1}`) === undefined);
    }
    t.diagnostic(`${replaced()} renewals, ${pods} pods, the slowest Ready after ${Math.round(slowestMs)} ms`);

    const said = (what: string): readonly string[] =>
      agent.lines.filter(({ msg }) => msg === what).map(({ collection }) => String(collection));
    // Requests for certificates are followed one by one, each by a list of its own.
    const listed = said('listed').filter((collection) => !collection.includes('certificatesigningrequests'));
    assert.ok(listed.some((collection) => collection.includes('pods')));
    assert.equal(new Set(listed).size, listed.length, `listed again: ${listed.join(', ')}`);
    assert.deepEqual(said('watch ended early, retrying'), []);
    assert.deepEqual(
      node.readiness.slice(node.readiness.findIndex(({ ready }) => ready)).map(({ ready }) => ready),
      [true],
    );
    assert.deepEqual(
      agent.lines.filter(({ level }) => level !== 'info'),
      [],
    );
    assert.deepEqual(agent.output, []);
  });
});
