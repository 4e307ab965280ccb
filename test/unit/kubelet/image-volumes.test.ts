import assert from 'node:assert/strict';
import { test } from 'node:test';
import { aPodThat, server, worker } from '../../builders/pods-that.ts';
import { agentOnFakeEngine, always } from '../../fakes/agent-on-fake-engine.ts';
import { scenario } from '../../fakes/scenario.ts';

const volumeMounts = [
  { name: 'model', mountPath: '/model' },
  { name: 'other', mountPath: 'part', subPathExpr: 'for/$(WHO)' },
];
const volumesOf = (pullPolicy: string, ...references: readonly string[]) =>
  ['model', 'other'].map((name, index) => ({ name, image: { reference: references[index] ?? 'example.com/model:1', pullPolicy } }));
const env = [{ name: 'WHO', value: 'me' }];

scenario('a container that mounts an image starts once that is pulled, and sees all or a part of it', async (it) => {
  const volumes = volumesOf('IfNotPresent', 'example.com/model:1', 'example.com/other:1');
  it.declare(aPodThat('web', { volumes, initContainers: [worker('init', 1)], containers: [server('app', { env, volumeMounts })] }));
  await it.advance(20_000);
  const { imageMounts = [] } = it.one('web/app').given;
  const [model = '', other = ''] = imageMounts.map(({ imageRef }) => imageRef);
  for (const imageRef of [model, other]) assert.match(imageRef, /^sha256:/);
  assert.notEqual(model, other);
  assert.deepEqual(imageMounts, [
    { imageRef: model, containerPath: '/model' },
    { imageRef: other, containerPath: '/part', subPath: 'for/me' },
  ]);
  assert.equal(it.agent.events.filter(({ reason, message }) => reason === 'Pulling' && message.includes('example.com/model:1')).length, 1);
});

scenario('a container waits for an image that it mounts and that is not there, and others do not', async (it) => {
  const volumes = volumesOf('Never');
  const pod = aPodThat('web', { volumes, containers: [server('app', { env, volumeMounts }), server('other')] });
  it.declare(pod);
  await it.advance(20_000);
  assert.deepEqual(it.running(), ['web/POD', 'web/other']);
  const state = it.status(pod)?.containerStatuses?.find(({ name }) => name === 'app')?.state;
  assert.deepEqual(state, {
    waiting: {
      reason: 'ErrImageNeverPull',
      message: 'Container image "example.com/model:1" is not present with pull policy of Never',
    },
  });
});

scenario('a part that leads out of an image is refused', async (it) => {
  const volumes = [{ name: 'model', image: { reference: 'example.com/model:1', pullPolicy: 'IfNotPresent' } }];
  const mount = (subPath: string) => [{ name: 'model', mountPath: '/model', subPath }];
  const pod = aPodThat('web', {
    volumes,
    containers: [server('app', { volumeMounts: mount('../x') }), server('root', { volumeMounts: mount('/etc') })],
  });
  it.declare(pod);
  await it.advance(20_000);
  assert.deepEqual(
    it.status(pod)?.containerStatuses?.map(({ name, state }) => [name, state?.waiting?.message]),
    [
      ['app', "unable to provision SubPath `../x`: must not contain '..'"],
      ['root', 'error SubPath `/etc` must not be an absolute path'],
    ],
  );
});

test('a container that mounts one image twice, which engines do not, is shown it by another', async (t) => {
  const asked: (ReadonlyMap<string, string> | undefined)[] = [];
  const shows = always('shows', () => ({
    pod: {
      container: async (_pod, _container, { images }) => {
        asked.push(images);
        return {};
      },
    },
  }));
  const agent = agentOnFakeEngine({ capabilities: [shows] });
  t.after(() => agent.close());
  agent.declare([
    aPodThat('web', { volumes: volumesOf('IfNotPresent'), containers: [server('app', { env, volumeMounts })] }),
    aPodThat('once', { volumes: volumesOf('IfNotPresent'), containers: [server('app', { volumeMounts: volumeMounts.slice(0, 1) })] }),
  ]);
  await agent.clock.advance(20_000);
  const given = new Map(
    agent.engine.controls.world().map(({ podName, name, given: by }) => [`${podName}/${name}`, by?.imageMounts?.length]),
  );
  assert.deepEqual([given.get('web/app'), given.get('once/app')], [undefined, 1]);
  assert.deepEqual(
    asked.map((images) => images && [...images.keys()]).filter((names) => names !== undefined),
    [['model', 'other']],
  );
});
