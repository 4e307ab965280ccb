import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SelfDescription, type SelfQuestion } from '../../../../../src/engines/docker/client/self-description.ts';
import { FakeClock } from '../../../../fakes/fake-clock.ts';

const never = new AbortController().signal;

test('an engine is asked once for all who ask within the time, each question by itself, and again afterwards', async () => {
  const clock = new FakeClock();
  const asked: SelfQuestion[] = [];
  const said = new SelfDescription(async (question) => {
    asked.push(question);
    return { n: asked.length };
  }, clock);
  const ask = (question: SelfQuestion) => said.get(question, 1000, never);
  assert.deepEqual(await Promise.all([ask('info'), ask('info'), ask('version')]), [{ n: 1 }, { n: 1 }, { n: 2 }]);
  await clock.advance(999);
  assert.deepEqual(await ask('info'), { n: 1 });
  await clock.advance(1);
  assert.deepEqual(await ask('info'), { n: 3 });
  assert.deepEqual(asked, ['info', 'version', 'info']);
});

test('who gives up gives up alone', async () => {
  const answer = Promise.withResolvers<{ readonly n: number }>();
  const said = new SelfDescription(() => answer.promise, new FakeClock());
  const gone = new AbortController();
  const [one, other] = [said.get('info', 1000, gone.signal), said.get('info', 1000, never)];
  const reason = new Error('gone');
  gone.abort(reason);
  await assert.rejects(one, (error) => error === reason);
  answer.resolve({ n: 1 });
  assert.deepEqual(await other, { n: 1 });
});

test('a failure is told, and not remembered', async () => {
  let asks = 0;
  const said = new SelfDescription(async () => {
    if (++asks === 1) throw new Error('no engine');
    return { asks };
  }, new FakeClock());
  await assert.rejects(said.get('info', 1000, never), /no engine/);
  assert.deepEqual(await said.get('info', 1000, never), { asks: 2 });
});
