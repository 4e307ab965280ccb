import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { fromDockerLabels, toDockerLabels } from '../../../../../src/engines/docker/identity/docker-labels.ts';
import {
  containerDockerName,
  parseDockerName,
  randomizedName,
  sandboxDockerName,
} from '../../../../../src/engines/docker/identity/docker-names.ts';
import { aPod } from '../../../../builders/a-pod.ts';

const attempts = fc.integer({ min: 0, max: 0xffff_ffff });
const part = fc.stringMatching(/^[a-z0-9.-]{1,20}$/);

test('a name says what it was made of, with a slash in front and a random part behind too', () => {
  fc.assert(
    fc.property(
      part,
      part,
      attempts,
      fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
      (podName, container, attempt, random) => {
        const pod = aPod(podName);
        const { name, namespace, uid } = pod.metadata;
        const written = containerDockerName(pod, container, attempt);
        const read = { container, pod: name, namespace, uid, attempt };
        for (const dockerName of [written, `/${written}`, randomizedName(written, () => random)]) {
          assert.deepEqual(parseDockerName(dockerName, 'container'), read);
        }
        assert.deepEqual(parseDockerName(sandboxDockerName(pod, attempt), 'sandbox'), { ...read, container: 'POD' });
      },
    ),
  );
});

test('other names are refused, quoted as Go does', () => {
  const table: readonly (readonly [string, string])[] = [
    ['/web\u0007\u00a0', 'failed to parse the sandbox name: "web\\a\\u00a0"'],
    ['//k8s_POD_web_ns_uid_0', 'container is not managed by kubernetes: "/k8s_POD_web_ns_uid_0"'],
    ['k8s_POD_web_ns_uid_+1', 'failed to parse the sandbox name "k8s_POD_web_ns_uid_+1": strconv.ParseUint: parsing "+1": invalid syntax'],
    ['k8s_a_b_c_d_\u200b', 'failed to parse the sandbox name "k8s_a_b_c_d_\\u200b": strconv.ParseUint: parsing "\\u200b": invalid syntax'],
    [
      'k8s_a_b_c_d_4294967296',
      'failed to parse the sandbox name "k8s_a_b_c_d_4294967296": strconv.ParseUint: parsing "4294967296": value out of range',
    ],
  ];
  for (const [name, message] of table) assert.throws(() => parseDockerName(name, 'sandbox'), { message });
});

test('labels and annotations come back from docker labels, whatever their keys', () => {
  const maps = fc.dictionary(fc.oneof(part, fc.constantFrom('__proto__', 'constructor', 'annotation', '')), fc.string());
  fc.assert(
    fc.property(maps, maps, (labels, annotations) => {
      const back = fromDockerLabels(toDockerLabels(labels, annotations));
      assert.deepEqual(Object.entries(back.labels), Object.entries(labels));
      assert.deepEqual(Object.entries(back.annotations), Object.entries(annotations));
    }),
  );
});
