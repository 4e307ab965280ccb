import assert from 'node:assert/strict';
import { aPodThat, server, worker } from '../../builders/pods-that.ts';
import { scenario } from '../../fakes/scenario.ts';

const volumeMounts = [
  { name: 'model', mountPath: '/model' },
  { name: 'model', mountPath: 'part', subPathExpr: 'for/$(WHO)' },
];
const env = [{ name: 'WHO', value: 'me' }];

scenario('a container that mounts an image starts once that is pulled, and sees all or a part of it', async (it) => {
  const volumes = [{ name: 'model', image: { reference: 'example.com/model:1', pullPolicy: 'IfNotPresent' } }];
  it.declare(aPodThat('web', { volumes, initContainers: [worker('init', 1)], containers: [server('app', { env, volumeMounts })] }));
  await it.advance(20_000);
  const { imageMounts = [] } = it.one('web/app').given;
  const imageRef = imageMounts[0]?.imageRef ?? '';
  assert.match(imageRef, /^sha256:/);
  assert.deepEqual(imageMounts, [
    { imageRef, containerPath: '/model' },
    { imageRef, containerPath: '/part', subPath: 'for/me' },
  ]);
  assert.equal(it.agent.events.filter(({ reason, message }) => reason === 'Pulling' && message.includes('example.com/model:1')).length, 1);
});

scenario('a container waits for an image that it mounts and that is not there, and others do not', async (it) => {
  const volumes = [{ name: 'model', image: { reference: 'example.com/model:1', pullPolicy: 'Never' } }];
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
