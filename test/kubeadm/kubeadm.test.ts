import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { kubeadmScript, kubectlOnFirst as kubectl, on } from '../builders/kubeadm-machines.ts';

// Each test goes on where the one before has ended: the life of a small cluster, from kubeadm init to kubeadm reset.

const GENEROUS = '--timeout=180s';

before(() => kubeadmScript('up'), { timeout: 300_000 });
after(() => kubeadmScript('down'), { timeout: 180_000 });

const jsonPath = (resource: readonly string[], path: string): Promise<string> => kubectl('get', ...resource, '-o', `jsonpath=${path}`);
const linesOf = (text: string): readonly string[] => text.split('\n').filter((line) => line !== '');
const signingRequests = (): Promise<string> =>
  jsonPath(['csr'], '{range .items[*]}{.spec.username} {.status.conditions[*].type}{"\\n"}{end}');

/** Looks again until it holds: what is far away says nothing when it changes. */
async function eventually(holds: () => Promise<void>, withinMs = 120_000): Promise<void> {
  const deadline = Date.now() + withinMs;
  for (;;) {
    try {
      return await holds();
    } catch (error) {
      if (Date.now() > deadline) throw error;
      await pause(500);
    }
  }
}

test('init: the control plane runs as static pods of the agent', { timeout: 400_000 }, async () => {
  const said = await kubeadmScript('init');
  assert.match(said, /Your Kubernetes control-plane has initialized successfully!/);
  const parts = ['etcd', 'kube-apiserver', 'kube-controller-manager', 'kube-scheduler'].map((name) => `${name}-first`);
  await eventually(async () => {
    const pods = await jsonPath(
      ['pods', '--namespace=kube-system', '--selector=tier=control-plane'],
      '{range .items[*]}{.metadata.name} {.status.conditions[?(@.type=="Ready")].status}{"\\n"}{end}',
    );
    assert.deepEqual(
      linesOf(pods).toSorted(),
      parts.map((name) => `${name} True`),
    );
  });
});

test('init: the kubeconfig of the node refers to a certificate that is renewed, as kubeadm leaves it', async () => {
  const kubeconfig = await on('first', 'cat', '/etc/kubernetes/kubelet.conf');
  assert.match(kubeconfig, /client-certificate: \/var\/lib\/kubelet\/pki\/kubelet-client-current\.pem/);
});

test('the node is ready once pods have a network, and a Deployment runs', { timeout: 400_000 }, async () => {
  const ready = '{.status.conditions[?(@.type=="Ready")].status}';
  assert.equal(await jsonPath(['node', 'first'], ready), 'False');
  await kubeadmScript('network');
  await kubectl('wait', '--for=condition=Ready', GENEROUS, 'node/first');
  await kubectl('taint', 'nodes', '--all', 'node-role.kubernetes.io/master-');
  const web = {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'web' },
    spec: {
      replicas: 1,
      selector: { matchLabels: { app: 'web' } },
      template: {
        metadata: { labels: { app: 'web' } },
        spec: {
          terminationGracePeriodSeconds: 0,
          containers: [
            {
              name: 'httpd',
              image: 'busybox:1.35',
              command: ['sh', '-c', 'mkdir /www && hostname >/www/index.html && exec httpd -f -p 80 -h /www'],
              readinessProbe: { httpGet: { port: 80 }, periodSeconds: 1 },
            },
          ],
          // One a node.
          affinity: {
            podAntiAffinity: {
              requiredDuringSchedulingIgnoredDuringExecution: [
                { topologyKey: 'kubernetes.io/hostname', labelSelector: { matchLabels: { app: 'web' } } },
              ],
            },
          },
        },
      },
    },
  };
  await on('first', 'sh', '-c', 'printf %s "$0" | kubectl apply -f -', JSON.stringify(web));
  await kubectl('rollout', 'status', GENEROUS, 'deployment/web');
});

test(
  'join: a token and the TLS bootstrap make a second agent a node, and a token that was deleted is gone',
  { timeout: 400_000 },
  async () => {
    const said = await kubeadmScript('join');
    assert.match(said, /This node has joined the cluster/);
    await kubeadmScript('network');
    await kubectl('wait', '--for=condition=Ready', GENEROUS, 'node/second');
    assert.match(await signingRequests(), /^system:bootstrap:\w+ Approved$/m);
    const tokens = async (): Promise<readonly string[]> =>
      linesOf(await on('first', 'kubeadm', 'token', 'list', '-o', 'jsonpath={.token}{"\\n"}'));
    // That of init, and that of join.
    const issued = await tokens();
    assert.equal(issued.length, 2);
    for (const token of issued) await on('first', 'kubeadm', 'token', 'delete', token);
    assert.deepEqual(await tokens(), []);
  },
);

test('pods of both nodes answer each other, by their own address and by that of their Service', { timeout: 400_000 }, async () => {
  await kubectl('scale', '--replicas=2', 'deployment/web');
  await kubectl('rollout', 'status', GENEROUS, 'deployment/web');
  const where = '{range .items[*]}{.spec.nodeName} {.metadata.name} {.status.podIP}{"\\n"}{end}';
  const pods = linesOf(await jsonPath(['pods', '--selector=app=web'], where))
    .toSorted()
    .map((line) => line.split(' '));
  assert.deepEqual(
    pods.map(([node]) => node),
    ['first', 'second'],
  );
  const [[, one = '', oneIp = ''] = [], [, two = '', twoIp = ''] = []] = pods;
  const ask = 'printf "GET / HTTP/1.0\\r\\n\\r\\n" | nc -w 20 "$0" 80 | tail -n 1';
  const asked = (from: string, address: string): Promise<string> => kubectl('exec', from, '--', 'sh', '-c', ask, address);
  assert.equal((await asked(one, twoIp)).trim(), two);
  assert.equal((await asked(two, oneIp)).trim(), one);
  await kubectl('rollout', 'status', GENEROUS, '--namespace=kube-system', 'daemonset/kube-proxy');
  await kubectl('expose', 'deployment/web', '--port=80');
  const service = await jsonPath(['service', 'web'], '{.spec.clusterIP}');
  // kube-proxy hears of it when it hears of it.
  await eventually(async () => assert.ok([one, two].includes((await asked(two, service)).trim())));
});

test('the client certificate is renewed before it expires, and the node stays ready', { timeout: 300_000 }, async () => {
  await eventually(async () => {
    const files = await on('second', 'ls', '/var/lib/kubelet/pki');
    assert.ok((files.match(/^kubelet-client-\d.*\.pem$/gm) ?? []).length >= 2, files);
  }, 240_000);
  assert.match(await signingRequests(), /^system:node:second Approved$/m);
  await kubectl('wait', '--for=condition=Ready', GENEROUS, 'node/second');
});

test('reset: each machine is as it was before', { timeout: 300_000 }, async () => {
  await kubectl('delete', 'node', 'second');
  for (const machine of ['second', 'first'] as const) {
    await kubeadmScript('reset', machine);
    assert.equal(await on(machine, 'docker', 'ps', '--all', '--quiet'), '', 'containers');
    const left = await on(
      machine,
      'sh',
      '-c',
      'cd / && find etc/kubernetes var/lib/kubelet var/lib/etcd var/lib/cni var/lib/dockershim ! -type d 2>/dev/null || true',
    );
    assert.equal(left, '', 'files');
    const mounts = linesOf(await on(machine, 'cat', '/proc/mounts')).filter((line) => line.includes('/var/lib/kubelet'));
    assert.deepEqual(mounts, []);
    const listening = await on(
      machine,
      'ss',
      '-Hltn',
      '( sport = :6443 or sport = :2379 or sport = :10248 or sport = :10250 or sport = :10257 or sport = :10259 )',
    );
    assert.equal(listening, '', 'listening');
    await assert.rejects(on(machine, 'systemctl', 'is-active', 'kubelet'));
  }
});
