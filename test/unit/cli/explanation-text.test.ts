import assert from 'node:assert/strict';
import { test } from 'node:test';
import { explanationText, nodeText } from '../../../src/cli/explanation-text.ts';
import type { Cause, Explanation } from '../../../src/model/explanation.ts';

const NOW = 1_700_000_000_000;

const anExplanation = (over: Partial<Explanation> = {}): Explanation => ({
  pod: 'default/web-n1',
  uid: 'u1',
  origin: { source: 'file', where: '/manifests/web.yaml', line: 3 },
  state: 'sick',
  phase: 'Pending',
  sinceMs: NOW - 120_000,
  causes: [{ code: 'image-not-found', kind: 'fault', text: 'image i:1 of container app cannot be pulled', advice: 'correct its tag' }],
  containers: [],
  events: [],
  ...over,
});

test('the first lines name the pod and the true cause', () => {
  const [head, cause, advice] = explanationText(anExplanation(), NOW).split('\n');
  assert.equal(head, 'default/web-n1 is not well (Pending for 2m)');
  assert.equal(cause, 'Image i:1 of container app cannot be pulled');
  assert.equal(advice, '  To do: correct its tag');
});

test('names, messages and log lines cannot steer the terminal, add lines of their own, or turn the text around', () => {
  const evil = 'a\u001b[2Jb\u009bc\nFORGED\rd\u202ee\u2028FORGED';
  const cause: Cause = { code: 'x', kind: 'fault', text: evil, detail: evil, advice: evil, container: evil };
  const text = explanationText(
    anExplanation({
      pod: evil,
      phase: evil,
      uid: evil,
      origin: { where: evil },
      causes: [cause, cause],
      containers: [
        {
          name: evil,
          kind: 'app',
          image: evil,
          desired: evil,
          observed: evil,
          restarts: 1,
          isWell: false,
          pull: { stage: 'failed', sinceMs: NOW, error: evil },
          probes: [{ kind: 'liveness', tries: [{ atMs: NOW, tookMs: 1, outcome: evil, message: evil }] }],
          lastLines: [evil],
        },
      ],
      decision: { atMs: NOW, woken: [evil], because: [evil], did: [evil], failed: evil },
      events: [{ atMs: NOW, times: 2, type: 'Warning', reason: evil, message: evil }],
    }),
    NOW,
  );
  // eslint-disable-next-line no-control-regex -- that is what must not be there
  assert.doesNotMatch(text, /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2028\u2029]/);
  assert.ok(text.split('\n').every((line) => !line.startsWith('FORGED')));
});

test('no line is longer than 80 columns, whatever is said', () => {
  const long = 'x'.repeat(1_000);
  const text = explanationText(
    anExplanation({ pod: long, causes: [{ code: 'x', kind: 'fault', text: `${'word '.repeat(100)}${long}`, detail: long }] }),
    NOW,
  );
  assert.ok(text.split('\n').every((line) => line.length <= 80));
  assert.ok(text.replaceAll(/\s/g, '').includes(long));
});

test('a pull shows how far it is', () => {
  const text = explanationText(
    anExplanation({
      containers: [
        {
          name: 'app',
          kind: 'app',
          desired: 'runs',
          observed: 'waiting',
          restarts: 0,
          isWell: false,
          probes: [],
          pull: { stage: 'under way', sinceMs: NOW - 5_000, percent: 43, msLeft: 20_000 },
        },
      ],
    }),
    NOW,
  );
  assert.match(text, /pull: under way, \[#########\.{11}\] 43 %, about 20s left, for 5s/);
});

test('the node is ready or not, and why', () => {
  const text = nodeText({
    name: 'n1',
    ready: false,
    causes: [{ code: 'engine-down', kind: 'fault', text: 'the container engine (docker) does not answer' }],
    parts: [{ part: 'engine', well: false, text: 'docker: nothing' }],
  });
  assert.equal(text, 'node n1 is not ready\nThe container engine (docker) does not answer\n\n! engine: docker: nothing\n');
});
