import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { aCa } from '../../builders/a-pki.ts';
import { ScriptedApiServer } from '../../fakes/scripted-api-server.ts';
import { AgentUnderTest, type LogLine } from './agent-under-test.ts';
import { app, pod, stays } from './pod-specs.ts';

/** What --runonce says of each pod, by the name that its test gave it. */
const results = (agent: AgentUnderTest): Readonly<Record<string, string>> =>
  Object.fromEntries(
    agent.lines
      .filter(({ msg }) => msg === 'pod is up' || msg === 'pod did not come up')
      .map((line: LogLine) => [
        String(line['pod']).replace(`default/${agent.prefix}`, '').replace(/-n1$/, ''),
        `${line.msg}: ${String(line['result'])}`,
      ]),
  );

describe('--runonce', { timeout: 300_000 }, () => {
  const prepare = (t: Parameters<typeof AgentUnderTest.prepare>[0], ...flags: string[]) =>
    AgentUnderTest.prepare(t, '--runonce', '--v=0', ...flags);

  test('exits with 0 when all pods are up or have completed, says so of each, and leaves them running', async (t) => {
    const agent = await prepare(t);
    await agent.declare('web', pod([app(), app(stays, { name: 'side' })], { initContainers: [app('exit 0', { name: 'setup' })] }));
    await agent.declare('db', pod());
    await agent.declare('job', pod([app('exit 0')], { restartPolicy: 'Never' }));
    agent.run();
    assert.equal(await agent.exited(), 0);
    const { job, ...others } = results(agent);
    assert.deepEqual(others, { web: 'pod is up: running', db: 'pod is up: running' });
    assert.match(job ?? '', /^pod is up: (completed|running)$/);
    await agent.up('web', ['app', 'side']);
    await agent.up('db');
  });

  for (const [what, declare, result] of [
    [
      'whose image is not to be had',
      (agent: AgentUnderTest) => agent.declare('bad', pod([app(stays, { image: 'no.such.host.invalid/x:1', imagePullPolicy: 'Never' })])),
      /^pod did not come up: container app: ErrImageNeverPull: /,
    ],
    [
      'that ends with 1 and is not to be restarted',
      (agent: AgentUnderTest) => agent.declare('bad', pod([app('exit 1')], { restartPolicy: 'Never' })),
      /^pod did not come up: container app exited with 1/,
    ],
    [
      'whose command is not there',
      (agent: AgentUnderTest) => agent.declare('bad', pod([app('', { command: ['/no/such/program'] })])),
      /^pod did not come up: container app: .*no such file/,
    ],
  ] as const) {
    test(`exits with 1 when there is a pod ${what}; the others are up all the same`, async (t) => {
      const agent = await prepare(t);
      // It takes long enough for the other's end to be seen, though that may be seen running before.
      await agent.declare('good', pod([app()], { initContainers: [app('sleep 2', { name: 'setup' })] }));
      await declare(agent);
      agent.run();
      assert.equal(await agent.exited(), 1);
      const { good, bad } = results(agent);
      assert.equal(good, 'pod is up: running');
      assert.match(bad ?? '', result);
      await agent.up('good');
    });
  }

  test('probes as always: a pod whose app waits for the startup probe of a sidecar comes up', async (t) => {
    const agent = await prepare(t);
    const sidecar = app(stays, { name: 'proxy', restartPolicy: 'Always', startupProbe: { exec: { command: ['true'] }, periodSeconds: 1 } });
    await agent.declare('web', pod([app()], { initContainers: [sidecar] }));
    agent.run();
    await agent.logged('the result', ({ msg }) => msg === 'pod is up');
    assert.equal(await agent.exited(), 0);
    await agent.up('web', ['app', 'proxy']);
  });

  test('runs the pods of the API server, too, with the credentials of the kubeconfig', async (t) => {
    const ca = aCa();
    const server = await ScriptedApiServer.start({ ...ca.issue({ commonName: '127.0.0.1', hosts: ['127.0.0.1'] }) });
    t.after(() => server.stop());
    const agent = await prepare(t);
    const bound = {
      metadata: { name: `${agent.prefix}bound`, namespace: 'default', uid: `${agent.prefix}uid`, resourceVersion: '1' },
      spec: pod([app()], { nodeName: 'n1', enableServiceLinks: false }),
    };
    const users = new Set<string | undefined>();
    void (async () => {
      for (;;) {
        const request = await server.next();
        users.add(request.user);
        const { method, path } = request;
        if (request.query['watch'] !== undefined) {
          request.begin();
          // What is empty says nothing, and shows that the watch has begun.
          request.write('\n');
        } else if (path === '/api/v1/pods') request.answer(200, { kind: 'PodList', metadata: { resourceVersion: '1' }, items: [bound] });
        else if (method === 'PATCH' && path.includes('/pods/')) request.answer(200, bound);
        else if (method === 'GET' && !path.includes('/nodes/'))
          request.answer(200, { kind: 'List', metadata: { resourceVersion: '1' }, items: [] });
        else request.answer(404, { kind: 'Status', code: 404, reason: 'NotFound', message: 'not here' });
      }
    })();
    const client = ca.issue({ commonName: 'system:node:n1', organizations: ['system:nodes'] });
    const data = (pem: string): string => Buffer.from(pem).toString('base64');
    const kubeconfig = join(agent.dir, 'kubeconfig');
    await writeFile(
      kubeconfig,
      JSON.stringify({
        clusters: [{ name: 'a', cluster: { server: server.url, 'certificate-authority-data': data(ca.pem) } }],
        users: [{ name: 'a', user: { 'client-certificate-data': data(client.certificatePem), 'client-key-data': data(client.keyPem) } }],
        contexts: [{ name: 'a', context: { cluster: 'a', user: 'a' } }],
        'current-context': 'a',
      }),
    );
    await agent.declare('static', pod());
    agent.run('--runonce', '--v=0', `--kubeconfig=${kubeconfig}`, '--register-node=false');
    await agent.logged('the result of the bound pod', ({ msg, pod: name }) => msg === 'pod is up' && String(name).includes('bound'));
    assert.equal(await agent.exited(), 0);
    assert.deepEqual([...users], ['system:node:n1']);
  });

  test('exits with 1 soon when the kubeconfig cannot work, and says why', async (t) => {
    const agent = await prepare(t);
    const ca = aCa();
    const server = await ScriptedApiServer.start(ca.issue({ commonName: '127.0.0.1', hosts: ['127.0.0.1'] }));
    t.after(() => server.stop());
    void (async () => {
      for (;;) (await server.next()).answer(401, { kind: 'Status', code: 401, reason: 'Unauthorized', message: 'Unauthorized' });
    })();
    const kubeconfig = join(agent.dir, 'kubeconfig');
    await writeFile(
      kubeconfig,
      JSON.stringify({
        clusters: [{ name: 'a', cluster: { server: server.url, 'certificate-authority-data': Buffer.from(ca.pem).toString('base64') } }],
        users: [{ name: 'a', user: { token: 'wrong' } }],
        contexts: [{ name: 'a', context: { cluster: 'a', user: 'a' } }],
        'current-context': 'a',
      }),
    );
    agent.run('--runonce', '--v=0', `--kubeconfig=${kubeconfig}`, '--register-node=false');
    assert.equal(await agent.exited(), 1);
    assert.match(JSON.stringify(agent.lines), /refuses \(401 Unauthorized\)/);
  });

  test('exits with 1 when a manifest is not valid, and says where; the others are up all the same', async (t) => {
    const agent = await prepare(t);
    await agent.declare('good', pod());
    await agent.write('bad.yaml', 'apiVersion: v1\nkind: Pod\nmetadata: { name: bad }\nspec: { containers: 5 }\n');
    agent.run();
    assert.equal(await agent.exited(), 1);
    assert.equal(results(agent)['good'], 'pod is up: running');
    assert.match(JSON.stringify(agent.lines), /bad\.yaml:4:\d+ spec\.containers/);
  });

  test('exits with 1 when it is told to stop before all pods are up, names those that it waits for, and leaves what runs', async (t) => {
    const agent = await prepare(t);
    await agent.declare('good', pod());
    await agent.declare('long', pod([app()], { initContainers: [app(stays, { name: 'setup' })] }));
    agent.run();
    const good = await agent.up('good');
    await agent.logged('the result of one', ({ msg }) => msg === 'pod is up');
    assert.equal(await agent.kill('SIGINT'), 1);
    const said = agent.lines.find(({ msg }) => msg === 'stopped before the result of every pod was known');
    assert.deepEqual(said?.['pods'], [`default/${agent.pod('long')}`]);
    assert.ok(!agent.lines.some(({ level }) => level === 'error'));
    assert.deepEqual(await agent.up('good'), good);
  });

  test('exits with 1 when the manifests cannot be read, and says so', async (t) => {
    const agent = await prepare(t);
    agent.run('--runonce', '--v=0', `--pod-manifest-path=${agent.dir}/nowhere`);
    assert.equal(await agent.exited(), 1);
    const said = agent.lines.filter(({ level }) => level === 'error').map(({ msg }) => msg);
    assert.deepEqual(said, ['manifests cannot be read yet: waiting for them', 'manifests not read']);
  });

  test('exits with 0 when the directory is empty', async (t) => {
    const agent = await prepare(t);
    agent.run();
    assert.equal(await agent.exited(), 0);
    assert.deepEqual(results(agent), {});
  });

  test('finds pods that run already and leaves them alone', async (t) => {
    const agent = await prepare(t);
    await agent.declare('web', pod());
    agent.run();
    assert.equal(await agent.exited(), 0);
    const before = await agent.up('web');
    agent.run();
    assert.equal(await agent.exited(), 0);
    assert.deepEqual(await agent.up('web'), before);
  });
});
