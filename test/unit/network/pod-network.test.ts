import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { silentLogger } from '../../../src/base/logger.ts';
import { type PodNetwork, podNetwork, type PodNetworkSettings } from '../../../src/network/pod-network.ts';
import { aContainer, aPod } from '../../builders/a-pod.ts';
import { FakeClock } from '../../fakes/fake-clock.ts';

let rootDir: string;
let told: string[];
let clock: FakeClock;
beforeEach(async () => {
  rootDir = await mkdtemp(join(tmpdir(), 'pod-network-'));
  told = [];
  clock = new FakeClock();
});
afterEach(() => rm(rootDir, { recursive: true }));

const network = (over: Partial<PodNetworkSettings> = {}): PodNetwork =>
  podNetwork({
    rootDir,
    nodeName: 'n1',
    nodeIps: ['192.0.2.1'],
    clusterDns: ['10.96.0.10'],
    clusterDomain: 'cluster.local',
    inCluster: true,
    resolvConf: '',
    selinux: false,
    clock,
    events: {
      record: (about, type, reason, message) => {
        told.push(`${'spec' in about ? about.metadata.name : `${about.kind} ${about.name}`} ${type} ${reason} ${message}`);
      },
    },
    log: silentLogger,
    ...over,
  });

const nodeFile = async (text: string): Promise<string> => {
  const path = join(rootDir, 'resolv.conf');
  await writeFile(path, text);
  return path;
};

describe('the sandbox of a pod', () => {
  test('asks the cluster for names, and is told the cluster’s domains before the node’s', async () => {
    const resolvConf = await nodeFile('nameserver 1.1.1.1\nsearch corp.example\n');
    assert.deepEqual(await network({ resolvConf }).sandbox(aPod('web')), {
      hostname: 'web',
      dns: {
        servers: ['10.96.0.10'],
        searches: ['default.svc.cluster.local', 'svc.cluster.local', 'cluster.local', 'corp.example'],
        options: ['ndots:5'],
      },
    });
    assert.deepEqual(told, []);
  });

  test("has what the node's file says at most a second ago", async () => {
    const resolvConf = await nodeFile('nameserver 1.1.1.1\n');
    const pods = network({ resolvConf, clusterDns: [] });
    const servers = async (): Promise<readonly string[] | undefined> => (await pods.sandbox(aPod('web'))).dns?.servers;
    assert.deepEqual(await servers(), ['1.1.1.1']);
    await nodeFile('nameserver 2.2.2.2\n');
    await clock.advance(999);
    assert.deepEqual(await servers(), ['1.1.1.1']);
    await clock.advance(1);
    assert.deepEqual(await servers(), ['2.2.2.2']);
  });

  test('without name servers of the cluster asks those of the node, which is told about the pod and the node', async () => {
    const resolvConf = await nodeFile('nameserver 1.1.1.1\n');
    const { dns } = await network({ resolvConf, clusterDns: ['not-an-address'] }).sandbox(aPod('web'));
    assert.deepEqual(dns?.servers, ['1.1.1.1']);
    const words =
      'kubelet does not have ClusterDNS IP configured and cannot create Pod using "ClusterFirst" policy. Falling back to "Default" policy.';
    assert.deepEqual(told, [
      `Node n1 Warning MissingClusterDNS ${words}`,
      `web Warning MissingClusterDNS pod: "web_default(uid-web)". ${words}`,
    ]);
  });

  test('without a cluster misses none of its name servers', async () => {
    const { dns } = await network({ inCluster: false, clusterDns: [] }).sandbox(aPod('web'));
    assert.deepEqual([dns?.servers, told], [['127.0.0.1'], []]);
  });

  test('with a file that cannot be read is refused in words', async () => {
    await assert.rejects(network({ resolvConf: '/nonexistent/resolv.conf' }).sandbox(aPod('web')), {
      message: 'open /nonexistent/resolv.conf: no such file or directory',
    });
  });
});

describe('the hosts file of a pod', () => {
  test('names the pod’s addresses and aliases, and stays the same file when it is written anew', async () => {
    const pod = aPod('web', { subdomain: 'front', hostAliases: [{ ip: '1.2.3.4', hostnames: ['foo', 'bar'] }] });
    const [mount] = await network().hostsMounts(pod, aContainer('app'), ['10.0.0.7']);
    const path = join(rootDir, 'pods', 'uid-web', 'etc-hosts');
    assert.deepEqual(mount, { hostPath: path, containerPath: '/etc/hosts', readOnly: false });
    const lines = (await readFile(path, 'utf8')).split('\n');
    assert.ok(lines.includes('10.0.0.7\tweb.front.default.svc.cluster.local\tweb'));
    assert.ok(lines.includes('1.2.3.4\tfoo\tbar'));
    await network().hostsMounts(pod, aContainer('app'), ['10.0.0.8']);
    assert.match(await readFile(path, 'utf8'), /^10\.0\.0\.8\t/m);
  });

  test('of a pod whose addresses are not known yet is there, and is written when they are', async () => {
    const pod = aPod('web');
    const early = await network().hostsMounts(pod, aContainer('app'), 'unknown');
    assert.equal(await readFile(early[0]?.hostPath ?? '', 'utf8'), '');
    assert.deepEqual(await network().hostsMounts(pod, aContainer('app'), ['10.0.0.7']), early);
    assert.match(await readFile(early[0]?.hostPath ?? '', 'utf8'), /^10\.0\.0\.7\t/m);
  });

  test('on the node’s network is the node’s own, with a header', async () => {
    const [mount] = await network().hostsMounts(aPod('web', { hostNetwork: true }), aContainer('app'), ['192.0.2.1']);
    const own = await readFile('/etc/hosts', 'utf8');
    assert.equal(await readFile(mount?.hostPath ?? '', 'utf8'), `# Kubernetes-managed hosts file (host network).\n${own}`);
  });

  for (const [when, container, ips] of [
    ['the pod has no address', aContainer('app'), []],
    ['the container mounts one of its own', aContainer('app', { volumeMounts: [{ name: 'v', mountPath: '/etc/hosts' }] }), ['10.0.0.7']],
  ] as const) {
    test(`is not there when ${when}`, async () => {
      assert.deepEqual(await network().hostsMounts(aPod('web'), container, ips), []);
    });
  }

  test('of a uid that leads elsewhere is not written', async () => {
    const pod = aPod('web', {}, { uid: '../x' as ReturnType<typeof aPod>['metadata']['uid'] });
    await assert.rejects(network().hostsMounts(pod, aContainer('app'), ['10.0.0.7']), /cannot name a directory/);
  });
});

describe('the node’s resolv.conf', () => {
  for (const [what, text, message] of [
    ['that fits is not talked about', 'search a b c\n', undefined],
    ['with too many domains', 'search a b c d\n', 'contains search line consisting of more than 3 domains!'],
    ['with too long a line', `search ${'x'.repeat(257)}\n`, 'contains search line which length is more than allowed 256 chars!'],
  ] as const) {
    test(what, async () => {
      const resolvConf = await nodeFile(text);
      await network({ resolvConf }).checkNodeFile();
      const expected =
        message === undefined ? [] : [`Node n1 Warning CheckLimitsForResolvConf Resolv.conf file '${resolvConf}' ${message}`];
      assert.deepEqual(told, expected);
    });
  }

  test('that is not there is told', async () => {
    await network({ resolvConf: '/nonexistent' }).checkNodeFile();
    assert.deepEqual(told, ['Node n1 Warning CheckLimitsForResolvConf open /nonexistent: no such file or directory']);
  });
});
