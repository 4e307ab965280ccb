import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { describe, test, type TestContext } from 'node:test';
import { inspect } from 'node:util';
import type { EngineClient } from '../../../../../src/engines/docker/client/engine-client.ts';
import { EngineAgent } from '../../../../../src/engines/docker/client/engine-agent.ts';
import {
  daemonWords,
  EngineDeadlineError,
  EngineResponseError,
  EngineUnavailableError,
  isConflict,
  isNotFound,
  isNotModified,
} from '../../../../../src/engines/docker/client/engine-errors.ts';
import { FakeClock } from '../../../../fakes/fake-clock.ts';
import { scriptedEngine } from '../../../../fakes/scripted-engine.ts';
import { anEngineClient } from '../../../../builders/docker-parts.ts';

const WHAT = 'GET /containers/abc/json';
const never = new AbortController().signal;

interface World {
  readonly client: EngineClient;
  readonly clock: FakeClock;
  readonly requests: readonly string[];
}

async function against(context: TestContext, answer: (response: ServerResponse) => void): Promise<World> {
  const engine = await scriptedEngine((_, response) => answer(response));
  const clock = new FakeClock();
  const client = anEngineClient(engine.endpoint, clock);
  context.after(async () => {
    client.close();
    assert.deepEqual([clock.actions.length, client.pendingCalls()], [0, []], 'no timer and no call is left');
    await engine.close();
  });
  return { client, clock, requests: engine.requests };
}

const ask = (client: EngineClient, signal = never): Promise<unknown> =>
  client.call(WHAT, client.requestTimeoutMs, signal, (docker) => docker.getContainer('abc').inspect());

const answerJson = (response: ServerResponse, status: number, body: unknown): void => {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
};

describe('a call to the engine', () => {
  test('gives what the daemon answers', async (t) => {
    const { client, requests } = await against(t, (response) => answerJson(response, 200, { Id: 'abc' }));
    assert.deepEqual(await ask(client), { Id: 'abc' });
    assert.deepEqual(requests, ['GET /containers/abc/json']);
  });

  for (const [status, is] of [
    [404, isNotFound],
    [409, isConflict],
    [304, isNotModified],
  ] as const)
    test(`knows ${status} by type`, async (t) => {
      const { client } = await against(t, (response) => answerJson(response, status, { message: 'as it is' }));
      await assert.rejects(ask(client), (error) => {
        assert.deepEqual([isNotFound, isConflict, isNotModified].filter((one) => one(error)), [is]); // prettier-ignore
        return true;
      });
    });

  test("a refusal names the call and keeps the daemon's words", async (t) => {
    const { client } = await against(t, (response) => answerJson(response, 500, { message: 'disk full' }));
    await assert.rejects(ask(client), (error) => {
      assert.ok(error instanceof EngineResponseError);
      assert.equal(error.message, `docker: ${WHAT} answered 500: disk full`);
      assert.equal(daemonWords(error), 'Error response from daemon: disk full');
      return true;
    });
  });

  test('a refusal that is no JSON is quoted as it is', async (t) => {
    const { client } = await against(t, (response) => response.writeHead(502).end('<h1>Bad Gateway</h1>\n'));
    await assert.rejects(ask(client), { message: `docker: ${WHAT} answered 502: <h1>Bad Gateway</h1>` });
  });

  test('a daemon that hangs misses the deadline, which names the call', async (t) => {
    const { client, clock, requests } = await against(t, () => {});
    const answer = ask(client);
    await until(() => requests.length === 1);
    assert.deepEqual(client.pendingCalls(), [{ what: WHAT, sinceMs: 0 }]);
    await Promise.all([
      assert.rejects(answer, (error) => {
        assert.ok(error instanceof EngineDeadlineError);
        assert.equal(error.message, `docker: ${WHAT} did not answer within 120 s`);
        return true;
      }),
      clock.advance(120_000),
    ]);
  });

  test('a daemon that hangs in the middle of its answer misses the deadline too', async (t) => {
    const { client, clock, requests } = await against(t, (response) => {
      response.writeHead(200, { 'content-length': '100' });
      response.write('{"Id":');
    });
    const answer = ask(client);
    await until(() => requests.length === 1);
    await Promise.all([assert.rejects(answer, EngineDeadlineError), clock.advance(120_000)]);
  });

  test('a connection that is dropped in the middle of the answer rejects at once', async (t) => {
    const { client } = await against(t, (response) => {
      response.writeHead(200, { 'content-length': '100' });
      response.write('{"Id":', () => response.destroy());
    });
    await assert.rejects(ask(client), EngineUnavailableError);
  });

  test('a connection that is dropped before the answer rejects at once', async (t) => {
    const { client } = await against(t, (response) => response.destroy());
    await assert.rejects(ask(client), EngineUnavailableError);
  });

  test('an abort rejects with its reason and drops the connection', async (t) => {
    let dropped = (): void => {};
    const gone = new Promise<void>((resolve) => (dropped = resolve));
    const { client, requests } = await against(t, (response) => response.on('close', dropped));
    const stop = new AbortController();
    const answer = ask(client, stop.signal);
    await until(() => requests.length === 1);
    const reason = new Error('the pod was deleted');
    stop.abort(reason);
    await assert.rejects(answer, (error) => error === reason);
    await gone;
  });

  test('under an aborted signal nothing is asked', async (t) => {
    const { client, requests } = await against(t, (response) => answerJson(response, 200, {}));
    const reason = new Error('too late');
    await assert.rejects(ask(client, AbortSignal.abort(reason)), (error) => error === reason);
    assert.deepEqual(requests, []);
  });

  test('requests that a call made and did not wait for end with it', async (t) => {
    let open = 0;
    const { client, requests } = await against(t, (response) => {
      open++;
      response.on('close', () => open--);
    });
    await client.call('several', 1000, never, async (docker) => {
      for (const id of ['a', 'b', 'c'])
        docker
          .getImage(id)
          .inspect()
          .catch(() => {});
      await until(() => requests.length === 3);
    });
    await until(() => open === 0);
    assert.equal(open, 0);
  });

  test('what a call was given to ask with asks nothing after the call', async (t) => {
    const { client, requests } = await against(t, (response) => answerJson(response, 200, { Id: 'abc' }));
    const kept = await client.call(WHAT, 1000, never, async (docker) => {
      const container = docker.getContainer('abc');
      await container.inspect();
      return container;
    });
    await assert.rejects(kept.inspect(), /is over: a new request to the engine takes a call of its own/);
    assert.equal(requests.length, 1);
  });

  test('without a daemon the error names the endpoint', async () => {
    const client = anEngineClient('unix:///nonexistent/engine.sock', new FakeClock());
    await assert.rejects(ask(client), (error) => {
      assert.ok(error instanceof EngineUnavailableError);
      assert.match(error.message, /cannot reach the Docker daemon at unix:\/\/\/nonexistent\/engine\.sock: connect ENOENT/);
      return true;
    });
  });

  test('a stream lives past its deadline and dies with its signal', async (t) => {
    const { client, clock } = await against(t, (response) => {
      response.writeHead(200).write('{}\n');
    });
    const stop = new AbortController();
    const stream = await client.open('GET /events', 1000, stop.signal, (docker) => docker.getEvents({}));
    await clock.advance(5000);
    const chunks: string[] = [];
    await assert.rejects(async () => {
      for await (const chunk of stream) {
        chunks.push(String(chunk));
        stop.abort();
      }
    });
    assert.deepEqual(chunks, ['{}\n']);
  });
});

test('endpoints are unix sockets or TCP addresses, and nothing else', () => {
  const clock = new FakeClock();
  for (const endpoint of ['unix:///run/x.sock', 'tcp://127.0.0.1:2375', 'tcp://[::1]:2375/']) {
    assert.doesNotThrow(() => anEngineClient(endpoint, clock).close(), endpoint);
  }
  for (const endpoint of ['', '/var/run/docker.sock', 'unix://', 'tcp://nohost', 'http://x:1', 'npipe:////./pipe/docker']) {
    assert.throws(() => anEngineClient(endpoint, clock), /expected unix:\/\/\/PATH or tcp:\/\/HOST:PORT/);
  }
});

test("docker's own environment variables change nothing", async (t) => {
  const before = process.env['DOCKER_HOST'];
  process.env['DOCKER_HOST'] = 'tcp://127.0.0.1:1';
  t.after(() => {
    if (before === undefined) delete process.env['DOCKER_HOST'];
    else process.env['DOCKER_HOST'] = before;
  });
  const { client } = await against(t, (response) => answerJson(response, 200, { Id: 'abc' }));
  assert.deepEqual(await ask(client), { Id: 'abc' });
});

test('an agent full of sockets prints in a word', () => {
  assert.equal(inspect(new EngineAgent(), { showHidden: true, depth: null }), 'EngineAgent');
});

test('each end of a call is told: what it was, how long it took and whether it failed', async (t) => {
  const engine = await scriptedEngine((request, response) => {
    if (request.url?.includes('good')) answerJson(response, 200, {});
    if (request.url?.includes('bad')) answerJson(response, 500, { message: 'no' });
  });
  const clock = new FakeClock();
  const told: unknown[] = [];
  const client = anEngineClient(engine.endpoint, clock, { tell: { engineCalled: (result) => void told.push(result) } });
  t.after(async () => {
    client.close();
    await engine.close();
  });
  const inspect = (id: string, signal = never): Promise<unknown> =>
    client.call(`GET /${id}`, 5000, signal, (docker) => docker.getContainer(id).inspect());
  await inspect('good');
  await assert.rejects(inspect('bad'));
  const stop = new AbortController();
  const aborted = assert.rejects(inspect('unwanted', stop.signal));
  stop.abort();
  await aborted;
  const late = assert.rejects(inspect('slow'), EngineDeadlineError);
  await clock.advance(5000);
  await late;
  assert.deepEqual(told, [
    { what: 'GET /good', tookMs: 0, failed: undefined },
    { what: 'GET /bad', tookMs: 0, failed: 'error' },
    { what: 'GET /unwanted', tookMs: 0, failed: undefined },
    { what: 'GET /slow', tookMs: 5000, failed: 'timeout' },
  ]);
});

/** Turns of the event loop, until `done`. */
async function until(done: () => boolean): Promise<void> {
  while (!done()) await new Promise((resolve) => setImmediate(resolve));
}
