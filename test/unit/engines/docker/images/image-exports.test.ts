import assert from 'node:assert/strict';
import { test } from 'node:test';
import { systemClock } from '../../../../../src/base/clock.ts';
import { ImageExports } from '../../../../../src/engines/docker/images/image-exports.ts';
import { anEngineClient } from '../../../../builders/docker-parts.ts';
import { runServices } from '../../../../builders/node-parts.ts';
import { FakeClock } from '../../../../fakes/fake-clock.ts';
import { RecordingLogger } from '../../../../fakes/recording-logger.ts';
import { scriptedEngine } from '../../../../fakes/scripted-engine.ts';

test('containers of exports that an agent was killed in are removed: its own, and none of an export that is under way', async (t) => {
  const containers = new Map([
    ['c1', '/root/pods/gone/volumes/image'],
    ['c2', '/root/pods/gone/volumes/image'],
    ['c3', '/other-root/pods/u/volumes/image'],
  ]);
  let fails = 1;
  const isUnderWay = Promise.withResolvers<void>();
  const engine = await scriptedEngine(({ method = '', url = '' }, response) => {
    const json = (status: number, body: unknown): void =>
      void response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    const id = /containers\/(c\d)/.exec(url)?.[1];
    if (method === 'POST' && url.includes('/containers/create')) {
      containers.set(`c${containers.size + 1}`, '/root/pods/here/volumes/image');
      json(201, { Id: `c${containers.size}` });
    } else if (url.includes('/containers/json')) {
      const [, directory] = /"rxlet\.export-to=([^"]*)"/.exec(decodeURIComponent(url)) ?? [];
      if (directory === undefined && fails-- > 0) return json(500, { message: 'not now' });
      const found = [...containers].filter(([, each]) => directory === undefined || each === directory);
      json(
        200,
        found.map(([Id, each]) => ({ Id, Labels: { 'rxlet.export-to': each } })),
      );
    } else if (method === 'DELETE' && id !== undefined) {
      containers.delete(id);
      response.writeHead(204).end();
    } else isUnderWay.resolve();
    return undefined;
  });
  t.after(() => engine.close());
  const client = anEngineClient(engine.endpoint, systemClock);
  t.after(() => client.close());
  const [clock, log, stop] = [new FakeClock(), new RecordingLogger(), new AbortController()];
  const exports = new ImageExports({ engine: client, rootDir: '/root', clock, log });
  const exporting = exports.export('sha256:1', '/root/pods/here/volumes/image', 1_000, stop.signal);
  await isUnderWay.promise;
  const said = log.next('containers of exports that an agent was killed in removed');
  const sweeping = runServices([exports.sweeper]);
  await clock.until(said);
  assert.deepEqual([...containers.keys()], ['c3', 'c4', 'c5']);
  await sweeping.stop();
  stop.abort(new Error('the agent stops'));
  await assert.rejects(exporting, { message: 'the agent stops' });
});
