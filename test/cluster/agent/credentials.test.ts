import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { X509Certificate } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { promisify } from 'node:util';
import { parse, stringify } from 'yaml';
import { clusterDirectory, kubeconfigOf, kubectl, nodeKubeconfig } from '../../builders/cluster-under-test.ts';
import { pod } from '../../integration/agent/pod-specs.ts';
import { ClusterNode } from './cluster-node.ts';

const openssl = (...args: readonly string[]): Promise<unknown> => promisify(execFile)('openssl', args);

interface KubeconfigJson {
  clusters: { name: string; cluster: Record<string, string> }[];
  users: { name: string; user: Record<string, string> }[];
}

/** A node's kubeconfig with a change, at `path`. */
async function changed(path: string, change: (kubeconfig: KubeconfigJson) => Promise<void> | void): Promise<void> {
  const kubeconfig = parse(await readFile(kubeconfigOf('node'), 'utf8')) as KubeconfigJson;
  await change(kubeconfig);
  await writeFile(path, stringify(kubeconfig));
}

/** A certificate that the cluster's CA has signed for this subject. */
async function certified(dir: string, subject: string, validity: readonly string[]): Promise<Record<string, string>> {
  const pki = join(clusterDirectory(), 'pki');
  const key = join(dir, 'user.key');
  const request = join(dir, 'user.csr');
  const certificate = join(dir, 'user.crt');
  await openssl('req', '-newkey', 'rsa:2048', '-nodes', '-keyout', key, '-out', request, '-subj', subject);
  const signer = ['-CA', join(pki, 'ca.crt'), '-CAkey', join(pki, 'ca.key'), '-set_serial', '77'];
  await openssl('x509', '-req', '-in', request, ...signer, ...validity, '-out', certificate);
  return { 'client-certificate': certificate, 'client-key': key };
}

const giveUser = (kubeconfig: KubeconfigJson, user: Record<string, string>): void => {
  for (const each of kubeconfig.users) each.user = user;
};

interface BadKubeconfig {
  readonly it: string;
  readonly make: (path: string, dir: string) => Promise<void>;
  /** The file alone shows it: the agent does not begin. */
  readonly before?: true;
  /** Besides where the file is. */
  readonly says: readonly RegExp[];
}

const whose = /context "rxlet", user "system:node:lab"/;

const bad: readonly BadKubeconfig[] = [
  { it: 'a missing file', before: true, make: async () => {}, says: [/no such file|does not exist|not there/i] },
  {
    it: 'malformed YAML',
    before: true,
    make: (path) => writeFile(path, 'apiVersion: v1\nkind: Config\nclusters:\n  - name: "rxlet\n'),
    says: [/line \d|:\d+:\d+/],
  },
  {
    it: 'a wrong CA',
    make: (path, dir) =>
      changed(path, async ({ clusters }) => {
        const ca = join(dir, 'ca.crt');
        await openssl(
          'req',
          '-x509',
          '-newkey',
          'rsa:2048',
          '-nodes',
          '-keyout',
          join(dir, 'ca.key'),
          '-out',
          ca,
          '-days',
          '1',
          '-subj',
          '/CN=stranger',
        );
        for (const { cluster } of clusters) cluster['certificate-authority-data'] = (await readFile(ca)).toString('base64');
      }),
    says: [whose, /certificate is not signed by the CA that the kubeconfig gives/, /CN=stranger/],
  },
  {
    it: 'an expired client certificate',
    before: true,
    make: (path, dir) =>
      changed(path, async (kubeconfig) =>
        giveUser(kubeconfig, await certified(dir, '/O=system:nodes/CN=system:node:lab', ['-days', '-1'])),
      ),
    says: [whose, /expired at \d{4}-\d\d-\d\dT/],
  },
  {
    it: 'a user without rights',
    make: (path, dir) => changed(path, async (kubeconfig) => giveUser(kubeconfig, await certified(dir, '/CN=nobody', ['-days', '1']))),
    says: [whose, /refuses \(403 Forbidden\)/, /User "nobody" cannot get resource "nodes"/],
  },
  {
    it: 'a token that nobody gave',
    make: (path) => changed(path, (kubeconfig) => giveUser(kubeconfig, { token: 'made-up' })),
    says: [whose, /refuses \(401 Unauthorized\)/],
  },
];

describe('credentials of a node', { timeout: 150_000 }, () => {
  test('a bootstrap kubeconfig is enough to join: certificate and kubeconfig are written, and used by the next start', async (t) => {
    const node = await ClusterNode.prepare(t);
    const kubeconfig = join(node.agent.dir, 'kubelet.conf');
    const startedAtMs = node.run(`--kubeconfig=${kubeconfig}`, `--bootstrap-kubeconfig=${kubeconfigOf('bootstrap')}`);
    t.diagnostic(`Ready ${(await node.ready()) - startedAtMs} ms after the start of the process`);
    t.after(async () => {
      for (const { csr } of node.agent.lines) if (typeof csr === 'string') await kubectl('delete', 'csr', csr, '--ignore-not-found');
    });
    const pem = await readFile(join(node.agent.dir, 'pki', 'kubelet-client-current.pem'), 'utf8');
    const { subject } = new X509Certificate(pem);
    assert.equal(subject, `O=system:nodes\nCN=system:node:${node.name}`);
    assert.match(pem, /PRIVATE KEY/);
    assert.match(await readFile(kubeconfig, 'utf8'), /kubelet-client-current\.pem/);
    await node.create('first', pod());
    await node.up('first');

    await node.agent.kill('SIGTERM');
    await node.kubectl('delete', 'node', node.name);
    await node.ready(node.run(`--kubeconfig=${kubeconfig}`));
    assert.equal(await readFile(join(node.agent.dir, 'pki', 'kubelet-client-current.pem'), 'utf8'), pem);
  });

  for (const { it, before, make, says } of bad) {
    test(`${it} ends the agent at once, and it says what is wrong and where`, async (t) => {
      const node = await ClusterNode.prepare(t);
      const file = join(node.agent.dir, 'kubelet.conf');
      await make(file, node.agent.dir);
      const atMs = node.run(`--kubeconfig=${file}`);
      assert.equal(await node.agent.exited(), before ? 2 : 1);
      const tookMs = Date.now() - atMs;
      assert.ok(tookMs < 15_000, `${tookMs} ms`);
      const err = before
        ? node.agent.output.find((line) => line.startsWith('rxlet: flag --kubeconfig: '))
        : (await node.agent.logged('why', ({ msg }) => msg === 'agent failed'))['err'];
      t.diagnostic(`after ${tookMs} ms: ${String(err)}`);
      assert.ok(String(err).includes(file), String(err));
      for (const words of says) assert.match(String(err), words);
    });
  }

  test("another node's certificate is explained at the start, and that node is left alone", async (t) => {
    const first = await ClusterNode.start(t);
    const second = await ClusterNode.prepare(t);
    const atMs = second.run(`--kubeconfig=${await nodeKubeconfig(first.name)}`);
    const { err } = await second.agent.logged('that the name is wrong', ({ msg }) => msg === 'this node cannot register under its name');
    assert.ok(Date.now() - atMs < 15_000, `${Date.now() - atMs} ms`);
    assert.match(String(err), new RegExp(`node-${first.name}\\.kubeconfig, context "rxlet", user "system:node:${first.name}"`));
    assert.match(String(err), new RegExp(`that of node "${first.name}", and this node is named "${second.name}".*--hostname-override`));
    await second.agent.logged('that it is not registered', ({ msg }) => msg === 'the node cannot be registered, retrying');
    assert.equal(second.nodes.get(second.name), undefined);
    assert.match(await first.kubectl('get', 'node', first.name), / Ready /);
  });
});
