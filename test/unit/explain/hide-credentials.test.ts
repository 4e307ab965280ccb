import assert from 'node:assert/strict';
import { test } from 'node:test';
import { capability } from '../../../src/explain/capability.ts';
import { jsonWithoutCredentials } from '../../../src/explain/hide-credentials.ts';
import type { PodUid } from '../../../src/model/pod.ts';
import type { ImagePulling } from '../../../src/ports/happenings.ts';
import { aPod } from '../../builders/a-pod.ts';
import { nodeUnderTest } from '../../builders/node-parts.ts';
import { serveRoutes } from '../../fakes/served-routes.ts';

const shown = (text: string): unknown => JSON.parse(jsonWithoutCredentials({ items: [{ error: text }] })).items[0].error;

for (const [what, text, expected] of [
  ['a password', 'pulling from https://ann:s3cret@reg.example/v2/', 'pulling from https://ann:[redacted]@reg.example/v2/'],
  ['a token in the place of a user', 'Get "https://ghp_abc@reg.example/v2/": EOF', 'Get "https://[redacted]@reg.example/v2/": EOF'],
  [
    'what signs a URL',
    'Get "https://cdn.example/blob?X-Amz-Expires=60&X-Amz-Signature=abc&X-Amz-Security-Token=def": 403',
    'Get "https://cdn.example/blob?X-Amz-Expires=60&X-Amz-Signature=[redacted]&X-Amz-Security-Token=[redacted]": 403',
  ],
  ['a key of shared access', 'https://blob.example/a?sv=1&sig=abc%3D', 'https://blob.example/a?sv=1&sig=[redacted]'],
  ['nothing', 'container app exited with code=1 & token=…', 'container app exited with code=1 & token=…'],
] as const)
  test(`${what} is left out of an explanation`, () => assert.equal(shown(text), expected));

test('a long error costs no more than its length', () => {
  const text = '?a=//&'.repeat(100_000);
  const startedAt = performance.now();
  assert.equal(shown(text), text);
  assert.ok(performance.now() - startedAt < 5_000);
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
