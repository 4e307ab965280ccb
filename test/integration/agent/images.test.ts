import assert from 'node:assert/strict';
import { randomBytes, randomUUID } from 'node:crypto';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, afterEach, before, describe, test, type TestContext } from 'node:test';
import { anImage, type BuiltImage } from '../../builders/an-image.ts';
import { DebianRegistry } from '../../fakes/debian-registry.ts';
import { type RegistryScript, ScriptedRegistry } from '../../fakes/scripted-registry.ts';
import { AgentUnderTest } from './agent-under-test.ts';
import { aRunnableImage } from './a-runnable-image.ts';
import { app, pod, stays } from './pod-specs.ts';

const configJson = (host: string): string => {
  const { username, password } = DebianRegistry.credentials;
  return JSON.stringify({ auths: { [host]: { auth: Buffer.from(`${username}:${password}`).toString('base64') } } });
};

describe('images', { timeout: 400_000 }, () => {
  let registry: ScriptedRegistry;
  let image: BuiltImage;
  let anotherImage: BuiltImage;
  const served: string[] = [];
  before(async () => {
    registry = await ScriptedRegistry.start();
    [image, anotherImage] = [await aRunnableImage(), await aRunnableImage('another')];
  });
  after(() => registry.close());

  const serve = (script: RegistryScript = {}, what = image) => {
    const repository = `test/${randomUUID().slice(0, 8)}`;
    const name = registry.serve(repository, '1', what, script);
    served.push(name);
    // Some engines fetch what else there is first.
    const isDownloading = (): Promise<void> => registry.isAsked(`${repository}/blobs/${what.layers[0]?.digest}`);
    return { name, repository, isDownloading };
  };
  const askedFor = (repository: string): number => registry.requests.filter(({ path }) => path.includes(repository)).length;
  const start = async (t: TestContext, ...flags: string[]): Promise<AgentUnderTest> => {
    const agent = await AgentUnderTest.start(t, ...flags);
    t.after(async () => {
      for (const name of served.splice(0)) await agent.engine.removeImage(name).catch(() => {});
    });
    return agent;
  };
  const running = (name: string, over = {}, spec = {}) =>
    pod([app(stays, { image: name, imagePullPolicy: 'IfNotPresent', ...over })], spec);
  const event = (agent: AgentUnderTest, reason: string, text: string, from = 0) =>
    agent.logged(
      `event ${reason}: ${text}`,
      (line) => line.msg === 'event' && line['reason'] === reason && String(line['message']).includes(text),
      from,
    );

  test('that are missing are pulled and run; those that are there are used without asking the registry', async (t) => {
    const agent = await start(t);
    const { name, repository } = serve();
    await agent.declare('first', running(name));
    await agent.up('first');
    await event(agent, 'Pulled', `Successfully pulled image "${name}"`);
    const asked = askedFor(repository);
    assert.ok(asked > 0);
    await agent.declare('second', running(name));
    await agent.up('second');
    await event(agent, 'Pulled', `Container image "${name}" already present on machine`);
    assert.equal(askedFor(repository), asked);
    // Always asks; Never does without.
    await agent.declare('third', running(name, { imagePullPolicy: 'Always' }));
    await agent.up('third');
    assert.ok(askedFor(repository) > asked);
    await agent.declare('fourth', running(`${registry.host}/test/never:1`, { imagePullPolicy: 'Never' }));
    await event(agent, 'ErrImageNeverPull', 'is not present with pull policy of Never');
    assert.equal(askedFor('test/never'), 0);
  });

  test('whose registry fails or hangs: its words are shown, the pull backs off, nobody else waits, and the pods come up once it is well', async (t) => {
    const sicknesses = {
      'knows-nothing': {
        script: { manifestFails: { status: 404, code: 'MANIFEST_UNKNOWN', message: 'no such thing here' } },
        words: /no such thing here|not found/,
      },
      'is-broken': {
        script: { manifestFails: { status: 500, code: 'UNKNOWN', message: 'the disk is full' } },
        words: /500 Internal Server Error/,
      },
      hangs: { script: { hangsMidLayer: true }, words: /because of no progress for 6s, latest progress: .*Downloading/ },
    };
    const agent = await start(t, '--image-pull-progress-deadline=6s', '--serialize-image-pulls=false');
    const { tellsPullProgress } = agent.engine.facts;
    const sick = Object.entries(sicknesses).map(([name, { script, words }]) => {
      // Another image: the engine shares downloads of what is the same.
      const served = serve(script, script === sicknesses.hangs.script ? anotherImage : image);
      return { pod: name, words, ...served };
    });
    for (const { pod: name, name: imageName } of sick) await agent.declare(name, running(imageName));
    const failing = sick.filter(({ pod: name }) => tellsPullProgress || name !== 'hangs');
    for (const { words, name } of failing) {
      const failed = await agent.logged('the failure', ({ msg, image: of }) => msg === 'image pull failed' && of === name);
      assert.match(String(failed['err']), words);
      const delayMs = Date.parse(String(failed['retryAt'])) - Number(failed['ts']) * 1000;
      assert.ok(delayMs > 8_500 && delayMs <= 10_500, `tried again after ${delayMs} ms`);
    }
    await agent.declare('well', pod());
    await agent.up('well');
    for (const { repository } of sick) registry.script(repository, {});
    registry.resume();
    for (const { pod: name } of failing) await agent.up(name);
    // What nobody gives up goes on as slowly as it comes.
    if (!tellsPullProgress) {
      await agent.remove('hangs');
      await agent.gone('hangs');
    }
    const pulls = agent.lines.filter(
      ({ msg, reason, message }) => msg === 'event' && reason === 'Pulling' && String(message).includes(registry.host),
    );
    assert.equal(pulls.length, sick.length + failing.length);
  });

  test('that download when their pod is deleted: the download ends, and nothing is left', async (t) => {
    const agent = await start(t);
    const { name, repository, isDownloading } = serve({ trickle: { bytes: 1_000, everyMs: 20 } }, anImage([randomBytes(2_000_000)]));
    await agent.declare('leaves', running(name));
    await event(agent, 'Pulling', name);
    await agent.within('a layer is on its way', isDownloading());
    const cut = registry.isCut(repository);
    await agent.remove('leaves');
    await agent.within('the download ends', cut);
    await agent.gone('leaves');
    assert.deepEqual(await agent.traces(), []);
    assert.ok(!(await agent.engine.images()).includes(name));
  });

  test('that download when their pod is edited: the new spec runs at once', async (t) => {
    const agent = await start(t);
    const { name, repository, isDownloading } = serve({ trickle: { bytes: 1_000, everyMs: 20 } }, anImage([randomBytes(2_000_000)]));
    await agent.declare('turns', running(name));
    await agent.within('a layer is on its way', isDownloading());
    const cut = registry.isCut(repository);
    await agent.declare('turns', pod());
    await agent.up('turns');
    await agent.within('the download ends', cut);
  });

  test('are pulled one at a time by default, and at the same time with --serialize-image-pulls=false; what is there never waits', async (t) => {
    const slow = { hangsMidLayer: true };
    for (const flag of ['--serialize-image-pulls=true', '--serialize-image-pulls=false']) {
      await t.test(flag, async (t) => {
        const agent = await start(t, flag);
        const [one, two] = [serve(slow, anImage([randomBytes(50_000)])), serve()];
        await agent.declare('one', running(one.name));
        await agent.within('a layer is on its way', one.isDownloading());
        await agent.declare('two', running(two.name));
        await agent.declare('here', pod());
        await agent.up('here');
        if (flag.endsWith('false')) await agent.up('two');
        else {
          await agent.logged('the second one waits', (line) =>
            JSON.stringify(line).includes(`pulling ${two.name}: waiting for 1 other pull`),
          );
          assert.equal(askedFor(two.repository), 0);
        }
        const cut = registry.isCut(one.repository);
        await agent.remove('one');
        await agent.gone('one');
        registry.resume();
        await agent.within('the download ends', cut);
        await agent.up('two');
      });
    }
  });

  test('of a closed registry open to the credentials of config.json in the root directory, also when those come later', async (t) => {
    const agent = await start(t);
    const closed = await DebianRegistry.start({ closed: true });
    t.after(() => closed.stop());
    const name = await closed.push('test/closed', '1', image);
    served.push(name);
    await agent.declare('early', running(name));
    const failed = await agent.logged('the failure', ({ msg, image: of }) => msg === 'image pull failed' && of === name);
    assert.match(String(failed['err']), /no basic auth credentials|authorization failed/);
    await writeFile(join(agent.rootDir, 'config.json'), configJson(closed.host));
    await agent.declare('late', running(name));
    await agent.up('late');
    await agent.up('early');
  });

  test('of a closed registry open to a pull secret of the manifest directory; without it the pull is tried, and it is told what is missing', async (t) => {
    const agent = await start(t);
    const closed = await DebianRegistry.start({ closed: true });
    t.after(() => closed.stop());
    const name = await closed.push('test/closed', '1', image);
    served.push(name);
    const imagePullSecrets = [{ name: 'registry' }];
    await agent.declare('app', running(name, {}, { imagePullSecrets }));
    await event(agent, 'FailedToRetrieveImagePullSecret', 'Unable to retrieve some image pull secrets (registry)');
    await agent.logged('the failure', ({ msg, image: of }) => msg === 'image pull failed' && of === name);
    const secret = {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: 'registry' },
      type: 'kubernetes.io/dockerconfigjson',
      stringData: { '.dockerconfigjson': configJson(closed.host) },
    };
    await agent.write('secret.yaml', JSON.stringify(secret));
    await agent.declare('late', running(name, {}, { imagePullSecrets }));
    await agent.up('late');
    await agent.up('app');

    // What is here by then is for those who have the secret, also after a restart; of that only its hash is on the disk.
    const pulled = join(agent.rootDir, 'image_manager', 'pulled');
    const [record = ''] = await Promise.all((await readdir(pulled)).map((file) => readFile(join(pulled, file), 'utf8')));
    assert.match(
      record,
      /"kubernetesSecrets":\[\{"uid":"[^"]*","namespace":"default","name":"registry","credentialHash":"[0-9a-f]{64}"\}\]/,
    );
    assert.ok(!record.includes(DebianRegistry.credentials.password));
    await agent.kill('SIGKILL');
    agent.run();
    await agent.declare('stranger', running(name));
    await event(agent, 'Failed', `Failed to pull image "${name}"`, agent.lines.length);
    await agent.declare('guest', running(name, { imagePullPolicy: 'Never' }));
    await event(agent, 'ErrImageNeverPull', 'is not present with pull policy of Never');
    await agent.declare('friend', running(name, { imagePullPolicy: 'Never' }, { imagePullSecrets }));
    await agent.up('friend');
  });

  test('of a closed registry are pulled with what a credential provider says, which is asked once for both pods', async (t) => {
    const closed = await DebianRegistry.start({ closed: true });
    t.after(() => closed.stop());
    const names = [await closed.push('test/provided', '1', image), await closed.push('test/provided', '2', anotherImage)] as const;
    served.push(...names);
    const programs = await mkdtemp(join(tmpdir(), 'rxlet-providers-'));
    t.after(() => rm(programs, { recursive: true }));
    const version = 'credentialprovider.kubelet.k8s.io/v1';
    const { username, password } = DebianRegistry.credentials;
    const answer = {
      kind: 'CredentialProviderResponse',
      apiVersion: version,
      cacheKeyType: 'Registry',
      auth: { [closed.host]: { username, password } },
    };
    const program = `#!/bin/sh\ncat >>${programs}/asked; echo >>${programs}/asked; echo '${JSON.stringify(answer)}'\n`;
    await writeFile(join(programs, 'closed'), program, { mode: 0o755 });
    const provider = { name: 'closed', apiVersion: version, matchImages: [closed.host], defaultCacheDuration: '10m' };
    const config = { apiVersion: 'kubelet.config.k8s.io/v1', kind: 'CredentialProviderConfig', providers: [provider] };
    await writeFile(join(programs, 'config.json'), JSON.stringify(config));
    const agent = await start(
      t,
      `--image-credential-provider-config=${join(programs, 'config.json')}`,
      `--image-credential-provider-bin-dir=${programs}`,
    );
    for (const [i, name] of names.entries()) {
      await agent.declare(`provided-${i}`, running(name));
      await agent.up(`provided-${i}`);
    }
    const asked = (await readFile(join(programs, 'asked'), 'utf8')).trim().split('\n');
    assert.deepEqual(
      asked.map((each) => JSON.parse(each)),
      [{ kind: 'CredentialProviderRequest', apiVersion: version, image: `${closed.host}/test/provided` }],
    );
    assert.ok(!agent.output.some((line) => line.includes(password)), 'the password is in no line of the log');
  });

  afterEach(() => registry.resume());
});
