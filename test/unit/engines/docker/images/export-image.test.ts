import assert from 'node:assert/strict';
import { test } from 'node:test';
import { systemClock } from '../../../../../src/base/clock.ts';
import { exportImage } from '../../../../../src/engines/docker/images/export-image.ts';
import { scriptedEngine } from '../../../../fakes/scripted-engine.ts';
import { anEngineClient } from '../../../../builders/docker-parts.ts';

test('an export that is aborted leaves no container behind: its pod may be gone for good', async (t) => {
  const stop = new AbortController();
  const containers = new Set<string>();
  const engine = await scriptedEngine((request, response) => {
    const { method = '', url = '' } = request;
    const json = (status: number, body: unknown): void =>
      void response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    const id = /containers\/(c\d)/.exec(url)?.[1];
    if (method === 'POST' && url.includes('/containers/create')) {
      const created = `c${containers.size + 1}`;
      containers.add(created);
      json(201, { Id: created });
    } else if (url.includes('/containers/json')) {
      json(
        200,
        [...containers].map((each) => ({ Id: each })),
      );
    } else if (method === 'DELETE' && id !== undefined) {
      containers.delete(id);
      response.writeHead(204).end();
    } else {
      assert.equal(containers.size, 2);
      stop.abort(new Error('the pod is gone'));
    }
  });
  t.after(() => engine.close());
  const client = anEngineClient(engine.endpoint, systemClock);
  t.after(() => client.close());
  await assert.rejects(exportImage(client, 'sha256:1', '/volumes/one', 1_000, stop.signal), { message: 'the pod is gone' });
  assert.deepEqual([...containers], []);
});
