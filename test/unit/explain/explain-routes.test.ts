import assert from 'node:assert/strict';
import { test } from 'node:test';
import { capability } from '../../../src/explain/capability.ts';
import type { PodUid } from '../../../src/model/pod.ts';
import type { ImagePulling } from '../../../src/ports/happenings.ts';
import { aPod } from '../../builders/a-pod.ts';
import { nodeUnderTest } from '../../builders/node-parts.ts';
import { serveRoutes } from '../../fakes/served-routes.ts';

for (const form of ['--password hunter2', '--token=hunter2', 'password=hunter2'])
  test(`what a container logged is explained without the credential of ${form}`, async () => {
    const { node, declare, setStatus } = nodeUnderTest();
    const line = `connecting with ${form} as it is Tuesday`;
    const { engine, pleg } = node;
    const quiet = {
      ...engine,
      runtime: { ...engine.runtime, listPods: async () => [] },
      access: {
        ...engine.access,
        logs: async function* () {
          yield { stream: 'stderr' as const, bytes: Buffer.from(`${line}\n`) };
        },
      },
    };
    const { routes = [] } = capability({
      ...node,
      engine: quiet,
      pleg: { ...pleg, health: () => ({ healthy: true, ageMs: 0, message: '' }) },
    });
    const pod = aPod('web', {}, { uid: 'u1' as PodUid });
    declare(pod);
    const containerID = `docker://${'a'.repeat(64)}`;
    const terminated = { exitCode: 1, reason: 'Error', containerID };
    setStatus(pod, {
      phase: 'Running',
      containerStatuses: [
        { name: 'app', image: 'x', imageID: '', containerID, ready: false, restartCount: 1, state: { terminated }, lastState: {} },
      ],
    });
    const served = await serveRoutes(routes);
    try {
      const answer = await (await fetch(`${served.url}/rxlet/v1/explain/default/web`)).text();
      assert.ok(answer.includes(`connecting with ${form.replace('hunter2', '[redacted]')} as it is Tuesday`), answer);
      assert.doesNotMatch(answer, /hunter2/);
    } finally {
      await served.close();
    }
  });

test("a pull's error is explained without the password of the registry", async () => {
  const { node, declare, setStatus } = nodeUnderTest();
  const health = () => ({ healthy: true, ageMs: 0, message: '' });
  const { listener, routes = [] } = capability({ ...node, pleg: { ...node.pleg, health } });
  const pod = aPod('web', {}, { uid: 'u1' as PodUid });
  declare(pod);
  const [name, image] = ['app', 'busybox:1.35'];
  const pull: ImagePulling = {
    uid: pod.metadata.uid,
    container: name,
    image,
    stage: 'failed',
    attempt: 1,
    error: 'Get "https://ann:s3cret@reg.example/v2/": it is Tuesday',
    retryAtMs: 0,
  };
  const waiting = { reason: 'ErrImagePull', message: pull.error };
  setStatus(pod, {
    phase: 'Pending',
    containerStatuses: [{ name, image, imageID: '', ready: false, restartCount: 0, state: { waiting } }],
  });
  listener?.imagePulling?.(pull);
  const served = await serveRoutes(routes);
  try {
    const answer = await (await fetch(`${served.url}/rxlet/v1/explain`)).text();
    assert.match(answer, /ann:\[redacted\]@reg\.example/);
    assert.doesNotMatch(answer, /s3cret/);
  } finally {
    await served.close();
  }
});
