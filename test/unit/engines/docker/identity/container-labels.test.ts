import assert from 'node:assert/strict';
import { test } from 'node:test';
import { containerLabels, readContainerLabels } from '../../../../../src/engines/common/identity/container-labels.ts';
import { aContainer, aPod } from '../../../../builders/a-pod.ts';

const read = (annotations: Readonly<Record<string, string>>): ReturnType<typeof readContainerLabels> =>
  readContainerLabels({ labels: {}, annotations });

test('a hook is read from its label as Go decodes it: zero values are filled in, and what does not fit is no hook', () => {
  const cases: readonly (readonly [label: string, hook: unknown])[] = [
    ['{"exec":{"command":["a",null]}}', { exec: { command: ['a', ''] } }],
    ['{"exec":{"command":[]},"unknown":1}', { exec: {} }],
    [
      '{"httpGet":{"path":"","httpHeaders":[{"name":"a"},null]}}',
      {
        httpGet: {
          port: 0,
          httpHeaders: [
            { name: 'a', value: '' },
            { name: '', value: '' },
          ],
        },
      },
    ],
    ['{"tcpSocket":{"port":"http"}}', { tcpSocket: { port: 'http' } }],
    ['{"sleep":{"seconds":5}}', { sleep: { seconds: 5 } }],
    ['null', {}],
    ['{"__proto__":1,"constructor":[]}', {}],
    ['{"exec":{"command":"a"}}', undefined],
    ['{"exec":{"command":[1]}}', undefined],
    ['{"httpGet":{"port":true}}', undefined],
    ['{"httpGet":{"port":4294967296}}', undefined],
    ['[]', undefined],
    ['"a"', undefined],
    ['{"exec":', undefined],
  ];
  for (const [label, hook] of cases) assert.deepEqual(read({ 'io.kubernetes.container.preStopHandler': label }).preStop, hook, label);
  assert.equal(read({}).preStop, undefined);
});

test('so are ports', () => {
  const cases: readonly (readonly [label: string, ports: unknown])[] = [
    ['[{"containerPort":80,"protocol":"TCP","hostPort":0,"name":"","more":1}]', [{ containerPort: 80, protocol: 'TCP' }]],
    ['[{},null]', [{ containerPort: 0 }, { containerPort: 0 }]],
    ['[]', undefined],
    ['null', undefined],
    ['{}', undefined],
    ['[[]]', undefined],
    ['[{"containerPort":1.5}]', undefined],
    ['[{"containerPort":"80"}]', undefined],
    ['[{"containerPort":80}]x', undefined],
  ];
  for (const [label, ports] of cases) assert.deepEqual(read({ 'io.kubernetes.container.ports': label }).ports, ports, label);
});

test('a grace period is read back from its label, up to the greatest that Kubernetes knows', () => {
  const greatest = Number(2n ** 63n - 1n);
  for (const seconds of [0, 30, 2 ** 31, Number.MAX_SAFE_INTEGER, greatest]) {
    const pod = aPod('web', { terminationGracePeriodSeconds: seconds }, { deletionGracePeriodSeconds: seconds });
    const note = readContainerLabels(containerLabels(pod, aContainer('app'), { attempt: 0, hash: '1' }));
    assert.equal(note.terminationGracePeriodSeconds, seconds);
    assert.equal(note.deletionGracePeriodSeconds, seconds);
  }
});
