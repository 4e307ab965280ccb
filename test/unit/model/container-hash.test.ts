import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { containerHash, deepHash, wholeContainerHash } from '../../../src/model/container-hash.ts';
import { containerJson } from '../../../src/model/container-json.ts';
import type { Container } from '../../../src/model/pod.ts';

const fnv1a = (text: string): number => {
  let hash = 0x811c9dc5n;
  for (const byte of Buffer.from(text)) hash = BigInt.asUintN(32, (hash ^ BigInt(byte)) * 0x01000193n);
  return Number(hash);
};

test('the hash is FNV-1a over the printed bytes', () => {
  fc.assert(fc.property(fc.uint8Array(), (bytes) => assert.equal(deepHash(bytes), fnv1a(`([]uint8)[${bytes.join(' ')}]`))));
});

test('fields stand in the order of the Go struct, and what is empty is left out', () => {
  const table: readonly (readonly [Container, string])[] = [
    [{ name: 'a', args: [], stdin: false, workingDir: '' }, '{"name":"a","resources":{}}'],
    [
      { tty: true, image: 'i', name: 'a', ports: [{ hostPort: 0, protocol: 'TCP', containerPort: 0 }] },
      '{"name":"a","image":"i","ports":[{"containerPort":0,"protocol":"TCP"}],"resources":{},"tty":true}',
    ],
    [
      {
        name: 'a',
        securityContext: { runAsUser: 0, privileged: false },
        livenessProbe: {},
        lifecycle: { preStop: { httpGet: { port: 'x' } } },
      },
      '{"name":"a","resources":{},"livenessProbe":{},"lifecycle":{"preStop":{"httpGet":{"port":"x"}}},"securityContext":{"privileged":false,"runAsUser":0}}',
    ],
    [
      { name: 'a', env: [{ name: 'E', valueFrom: { resourceFieldRef: { resource: 'limits.cpu' } } }] },
      '{"name":"a","env":[{"name":"E","valueFrom":{"resourceFieldRef":{"resource":"limits.cpu","divisor":"0"}}}],"resources":{}}',
    ],
    [
      { name: 'a', resources: { requests: { memory: '1024Mi', cpu: '0.5' } } },
      '{"name":"a","resources":{"requests":{"cpu":"500m","memory":"1Gi"}}}',
    ],
    [
      { name: 'a', resources: { limits: { '\ue000': '1', '\u{1f600}': '1', B: '1', a: '1' } } },
      '{"name":"a","resources":{"limits":{"B":"1","a":"1","\ue000":"1","\u{1f600}":"1"}}}',
    ],
    [
      {
        name: 'a',
        livenessProbe: { grpc: { port: 1, service: '' }, periodSeconds: 10, terminationGracePeriodSeconds: 0 },
        restartPolicy: 'Always',
      },
      '{"name":"a","resources":{},"restartPolicy":"Always","livenessProbe":{"grpc":{"port":1,"service":""},"periodSeconds":10,"terminationGracePeriodSeconds":0}}',
    ],
  ];
  for (const [container, json] of table) assert.equal(containerJson(container), json);
});

test('text is escaped as Go escapes it, and is still JSON', () => {
  assert.equal(
    containerJson({ name: '<>&"\\\b\f\n\r\t\u0001\u007f\u2028\u2029é\ud800\\b' }),
    String.raw`{"name":"\u003c\u003e\u0026\"\\\u0008\u000c\n\r\t\u0001${'\u007f'}\u2028\u2029é${'\ufffd'}\\b","resources":{}}`,
  );
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (name) => assert.deepEqual(JSON.parse(containerJson({ name })), { name, resources: {} })),
  );
});

test('of the whole spec: equal containers have equal hashes, and a changed one another', () => {
  const container: Container = { name: 'a', image: 'busybox' };
  assert.equal(wholeContainerHash(container), '7685b545');
  assert.equal(wholeContainerHash(container), wholeContainerHash({ image: 'busybox', name: 'a' }));
  assert.notEqual(wholeContainerHash({ ...container, args: ['a'] }), wholeContainerHash(container));
});

test('what tells containers apart is their name and their image, as the text that Go makes of the two', () => {
  const hashOf = (json: string): string => deepHash(Buffer.from(json)).toString(16);
  assert.equal(containerHash({ name: 'a', image: 'busybox' }), hashOf('{"image":"busybox","name":"a"}'));
  // As Kubernetes 1.31 and later have it for these.
  assert.equal(containerHash({ name: 'test_container', image: 'foo/image:v1' }), '8e45cbd0');
  assert.equal(containerHash({ name: 'a' }), hashOf('{"image":"","name":"a"}'));
  assert.equal(containerHash({ name: 'a', image: 'a&b' }), hashOf(String.raw`{"image":"a\u0026b","name":"a"}`));
  const resized: Container = { name: 'a', image: 'busybox', args: ['a'], resources: { limits: { cpu: '1' } } };
  assert.equal(containerHash(resized), containerHash({ name: 'a', image: 'busybox' }));
});
