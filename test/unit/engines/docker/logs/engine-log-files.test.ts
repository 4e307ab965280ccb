import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { EngineLogFiles } from '../../../../../src/engines/docker/logs/engine-log-files.ts';
import { FakeClock } from '../../../../fakes/fake-clock.ts';
import { scriptedEngine } from '../../../../fakes/scripted-engine.ts';
import { anEngineClient } from '../../../../builders/docker-parts.ts';

const json = { LoggingDriver: 'json-file', DockerRootDir: '/data' };

describe("where the engine keeps a container's log", () => {
  for (const [what, status, info, path] of [
    ['under its data directory', 200, json, '/data/containers/abc/abc-json.log'],
    ['nowhere to be read with another driver', 200, { ...json, LoggingDriver: 'journald' }, undefined],
    ['unknown when it says nothing of the kind', 200, {}, undefined],
    ['unknown when it refuses to say', 500, { message: 'no' }, undefined],
  ] as const)
    test(what, async () => {
      const engine = await scriptedEngine((_, response) => response.writeHead(status).end(JSON.stringify(info)));
      try {
        const clock = new FakeClock();
        const files = new EngineLogFiles(anEngineClient(engine.endpoint, clock), clock);
        const [one, two] = await Promise.all([files.locate(), files.locate()]);
        assert.deepEqual([one?.('abc'), two?.('abc')], [path, path]);
        assert.equal(engine.requests.length, 1);
        assert.equal(files.known, status === 200);
        await files.locate();
        assert.equal(engine.requests.length, status === 200 ? 1 : 2, 'what it told is remembered');
        await clock.advance(300_000);
        await files.locate();
        assert.equal(engine.requests.at(-1), 'GET /info');
        assert.equal(engine.requests.length, status === 200 ? 2 : 3, 'for five minutes');
      } finally {
        await engine.close();
      }
    });
});
