import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { describe, test } from 'node:test';
import { AgentUnderTest } from './agent-under-test.ts';
import { execIn } from './exec-in.ts';
import { app, pod, stays } from './pod-specs.ts';

const cluster = ['--cluster-dns=10.96.0.10', '--cluster-domain=cluster.local'];

async function exec(container: string | undefined, ...command: string[]): Promise<string> {
  return (await execIn(container ?? '', ...command)).trim();
}

/** Which line comes first is each engine's own. */
const linesOf = (resolver: string): string => resolver.split('\n').sort().join('\n');

describe('what a pod sees of its network', { timeout: 200_000 }, () => {
  test('its name, its hosts file and its resolver are the same in each of its containers', async (t) => {
    const agent = await AgentUnderTest.start(t, ...cluster);
    const hostAliases = [{ ip: '192.0.2.7', hostnames: ['foo', 'bar'] }];
    const keeps = app('hostname >/seen/hostname; cp /etc/hosts /etc/resolv.conf /seen', {
      name: 'setup',
      volumeMounts: [{ name: 'seen', mountPath: '/seen' }],
    });
    const volumes = [{ name: 'seen', emptyDir: {} }];
    const containers = [app(stays, { volumeMounts: [{ name: 'seen', mountPath: '/seen' }] }), app(stays, { name: 'side' })];
    const spec = { hostname: 'www', subdomain: 'front', setHostnameAsFQDN: true, hostAliases, volumes, initContainers: [keeps] };
    await agent.declare('web', pod(containers, spec));
    const { app: main, side } = await agent.up('web', ['app', 'side']);
    const fqdn = 'www.front.default.svc.cluster.local';
    assert.equal(await exec(main?.id, 'hostname'), fqdn);
    assert.equal(await exec(side?.id, 'hostname'), fqdn);
    assert.equal(await exec(main?.id, 'cat', '/seen/hostname'), fqdn);
    const hosts = await exec(main?.id, 'cat', '/etc/hosts');
    assert.match(hosts, new RegExp(`^# Kubernetes-managed hosts file\\.$[^]*^[\\d.]+\t${fqdn}\twww$[^]*^192\\.0\\.2\\.7\tfoo\tbar$`, 'm'));
    assert.equal(await exec(main?.id, 'cat', '/seen/hosts'), hosts);
    assert.equal(await exec(side?.id, 'cat', '/etc/hosts'), hosts);
    const resolver = await exec(main?.id, 'cat', '/etc/resolv.conf');
    assert.match(
      linesOf(resolver),
      /^nameserver 10\.96\.0\.10\noptions ndots:5\nsearch default\.svc\.cluster\.local svc\.cluster\.local cluster\.local.*$/,
    );
    assert.equal(await exec(main?.id, 'cat', '/seen/resolv.conf'), resolver);
    await agent.remove('web');
    await agent.gone('web');
    assert.deepEqual(await agent.traces('web'), []);
  });

  test('a resolver of its own where it asks for no other, and the node’s hosts file on the node’s network', async (t) => {
    const agent = await AgentUnderTest.start(t, ...cluster);
    const dnsConfig = {
      nameservers: ['192.0.2.53'],
      searches: ['example.com'],
      options: [{ name: 'ndots', value: '2' }, { name: 'rotate' }],
    };
    await agent.declare('own', pod([app()], { hostNetwork: true, dnsPolicy: 'None', dnsConfig }));
    const { app: main } = await agent.up('own');
    assert.equal(
      linesOf(await exec(main?.id, 'cat', '/etc/resolv.conf')),
      'nameserver 192.0.2.53\noptions ndots:2 rotate\nsearch example.com',
    );
    const own = (await readFile('/etc/hosts', 'utf8')).trim();
    assert.equal(await exec(main?.id, 'cat', '/etc/hosts'), `# Kubernetes-managed hosts file (host network).\n${own}`);
  });
});
