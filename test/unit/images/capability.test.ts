import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { capability } from '../../../src/images/capability.ts';
import { ContainerStartError } from '../../../src/model/container-start-error.ts';
import type { ApiRequest } from '../../../src/ports/kube-api.ts';
import { aContainer, aPod } from '../../builders/a-pod.ts';
import { aRootDirectory } from '../../builders/a-root-directory.ts';
import { nodeUnderTest, withoutCluster } from '../../builders/node-parts.ts';
import { FakeKubeApi } from '../../fakes/fake-kube-api.ts';
import { config, provider, providersUnderTest } from '../../builders/providers-under-test.ts';

const { signal } = new AbortController();

test('an image is pulled, which is recorded and told of', async (t) => {
  const scene = nodeUnderTest({ options: { rootDir: await aRootDirectory(t) } });
  t.after(() => scene.node.engine.close());
  const { images } = await capability(scene.node);
  assert.ok(images);
  assert.match(await scene.clock.until(images.ensureImage(aPod('web'), aContainer('app', { image: 'nginx' }), signal)), /^sha256:/);
  assert.deepEqual(
    scene.events.map(({ reason }) => reason),
    ['Pulling', 'Pulled'],
  );
  const notes = scene.happened.flatMap((each) => (each.name === 'noted' ? [each.what] : []));
  assert.match(notes.at(-1)?.message ?? '', /^pulled nginx in /);
  assert.equal(notes.at(-1)?.uid, 'uid-web');
});

test('pulls above the rate are refused', async (t) => {
  const scene = nodeUnderTest({
    options: { rootDir: await aRootDirectory(t), registryQps: 1, registryBurst: 1, serializeImagePulls: false },
  });
  t.after(() => scene.node.engine.close());
  const { images } = await capability(scene.node);
  assert.ok(images);
  const ensure = (image: string): Promise<string> => images.ensureImage(aPod(image), aContainer('app', { image }), signal);
  const ends = await scene.clock.until(Promise.allSettled([ensure('nginx'), ensure('redis')]), 1);
  const refused = ends.flatMap((end) => (end.status === 'rejected' ? [end.reason] : []));
  assert.equal(refused.length, 1);
  assert.ok(refused[0] instanceof ContainerStartError);
  assert.equal(refused[0].message, 'pull QPS exceeded');
});

test('for a credential provider with tokenAttributes the API server is asked for a token, if the feature gate lets it', async (t) => {
  const wants = ', tokenAttributes: {serviceAccountTokenAudience: a, requireServiceAccount: true, cacheType: Token}';
  const { directory } = await providersUnderTest(t, config(provider('one', wants)), { one: 'exit 1' });
  const asked = Promise.withResolvers<string>();
  const request = <T>({ method, path }: ApiRequest): Promise<T> => {
    const account: unknown = { metadata: { uid: 'u' } };
    if (method === 'GET') return Promise.resolve(account as T);
    asked.resolve(path);
    return new Promise(() => {});
  };
  const api = new FakeKubeApi();
  const clients = { main: { ...api.door('main'), request }, events: api, heartbeat: api, reviews: api, informer: api.informer.bind(api) };
  const providers = {
    rootDir: await aRootDirectory(t),
    imageCredentialProviderConfig: join(directory, 'providers.yaml'),
    imageCredentialProviderBinDir: directory,
  };
  const scene = nodeUnderTest({ options: providers, cluster: { ...withoutCluster, exists: true, clients } });
  t.after(() => scene.node.engine.close());
  const { images } = await capability(scene.node);
  assert.ok(images);
  const gone = new AbortController();
  const pulled = images.ensureImage(aPod('web', { serviceAccountName: 'app' }), aContainer('app', { image: 'a.example/app' }), gone.signal);
  assert.equal(await scene.clock.until(asked.promise), '/api/v1/namespaces/default/serviceaccounts/app/token');
  gone.abort(new Error('the pod has gone'));
  await assert.rejects(pulled, { message: 'the pod has gone' });
  const gateOff = { ...providers, featureGates: { KubeletServiceAccountTokenForCredentialProviders: false } };
  const refused = nodeUnderTest({ options: gateOff });
  t.after(() => refused.node.engine.close());
  await assert.rejects(capability(refused.node), /tokenAttributes is not supported when KubeletServiceAccountTokenForCredentialProviders/);
});

for (const [what, options, mayUse] of [
  ['by default', {}, true],
  ['imagePullCredentialsVerificationPolicy AlwaysVerify', { imagePullCredentialsVerificationPolicy: 'AlwaysVerify' }, false],
  [
    'preloadedImagesVerificationAllowlist',
    { imagePullCredentialsVerificationPolicy: 'NeverVerifyAllowlistedImages', preloadedImagesVerificationAllowlist: ['a.example/*'] },
    true,
  ],
  [
    'without the feature gate',
    { imagePullCredentialsVerificationPolicy: 'AlwaysVerify', featureGates: { KubeletEnsureSecretPulledImages: false } },
    true,
  ],
] as const)
  test(`an image that somebody else has pulled is ${mayUse ? '' : 'not '}for every pod: ${what}`, async (t) => {
    const scene = nodeUnderTest({ options: { rootDir: await aRootDirectory(t), ...options } });
    t.after(() => scene.node.engine.close());
    await scene.clock.until(scene.node.engine.images.pullImage('a.example/app:1', undefined, () => {}, signal));
    const { images } = await capability(scene.node);
    assert.ok(images);
    const container = aContainer('app', { image: 'a.example/app:1', imagePullPolicy: 'Never' });
    const found = await scene.clock.until(Promise.allSettled([images.ensureImage(aPod('web'), container, signal)]));
    assert.equal(found[0]?.status, mayUse ? 'fulfilled' : 'rejected');
    const ending = what === 'without the feature gate' ? '' : ' and can be accessed by the pod';
    const expected = mayUse
      ? `Container image "a.example/app:1" already present on machine${ending}`
      : 'Container image "a.example/app:1" is not present with pull policy of Never';
    assert.deepEqual(
      scene.events.map(({ message }) => message),
      [expected],
    );
  });
