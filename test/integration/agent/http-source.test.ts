import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type RequestListener } from 'node:http';
import { describe, test, type TestContext } from 'node:test';
import { AgentUnderTest, type LogLine } from './agent-under-test.ts';
import { app, pod, stays } from './pod-specs.ts';

const says = (msg: string) => (line: LogLine) => line.msg === msg;

/** A server of manifests that does what the test says, and remembers how it was asked. */
async function manifestServer(t: TestContext) {
  const asked: IncomingHttpHeaders[] = [];
  const statuses: number[] = [];
  const waiting = new Set<() => void>();
  let answer: RequestListener = (_, response) => response.writeHead(404).end();
  const server = createServer((request, response) => {
    asked.push(request.headers);
    response.once('finish', () => {
      statuses.push(response.statusCode);
      for (const told of waiting) told();
    });
    answer(request, response);
  });
  const listen = async (port: number): Promise<number> => {
    server.listen(port, '127.0.0.1');
    await once(server, 'listening');
    const address = server.address();
    return typeof address === 'object' && address ? address.port : 0;
  };
  const port = await listen(0);
  const close = async (): Promise<void> => {
    if (!server.listening) return;
    server.closeAllConnections();
    server.close();
    await once(server, 'close');
  };
  t.after(close);
  return {
    url: `http://127.0.0.1:${port}/pods`,
    asked,
    answerWith: (next: RequestListener): void => {
      answer = next;
    },
    serves: (body: unknown, etag?: string): void => {
      answer = (request, response) => {
        if (etag !== undefined && request.headers['if-none-match'] === etag) response.writeHead(304).end();
        else
          response
            .writeHead(200, { 'content-type': 'application/json', ...(etag === undefined ? {} : { etag }) })
            .end(JSON.stringify(body));
      };
    },
    /** Resolves after `count` more answers. */
    answered: async (count: number): Promise<readonly number[]> => {
      const from = statuses.length;
      while (statuses.length < from + count) {
        await new Promise<void>((told) => waiting.add(told));
        waiting.clear();
      }
      return statuses.slice(from);
    },
    close,
    reopen: () => listen(port),
  };
}

describe('a manifest URL', { timeout: 300_000 }, () => {
  const prepare = async (t: TestContext, ...flags: string[]) => {
    const server = await manifestServer(t);
    const agent = await AgentUnderTest.prepare(
      t,
      '--pod-manifest-path=',
      `--manifest-url=${server.url}`,
      '--http-check-frequency=200ms',
      ...flags,
    );
    const aPod = (name: string): object => ({ apiVersion: 'v1', kind: 'Pod', metadata: { name: `${agent.prefix}${name}` }, spec: pod() });
    const list = (...names: string[]): object => ({ apiVersion: 'v1', kind: 'PodList', items: names.map(aPod) });
    return { server, agent, aPod, list };
  };

  test('may serve one pod; headers are sent, and the pod is of the source http', async (t) => {
    const { server, agent, aPod } = await prepare(
      t,
      '--manifest-url-header=X-Token:open sesame',
      '--manifest-url-header=X-Many:a',
      '--manifest-url-header=X-Many:b',
    );
    server.serves(aPod('one'));
    agent.run();
    const { POD } = await agent.up('one');
    assert.ok(POD);
    assert.equal((await agent.engine.inspect(POD.id)).Config.Labels['annotation.kubernetes.io/config.source'], 'http');
    assert.deepEqual([server.asked[0]?.['x-token'], server.asked[0]?.['x-many']], ['open sesame', 'a, b']);
  });

  test('may serve a list; a pod that leaves it ends, one that joins it starts, and the others do not notice', async (t) => {
    const { server, agent, list } = await prepare(t);
    server.serves(list('a', 'b'));
    agent.run();
    const before = await agent.up('a');
    const { app: gone } = await agent.up('b');
    server.serves(list('a', 'c'));
    await agent.gone('b');
    await agent.up('c');
    assert.deepEqual(await agent.up('a'), before);
    assert.deepEqual(await agent.traces('b', gone?.uid), []);
  });

  test('that answers 304, 500 or nonsense, or not at all, takes no pod away; its trouble is said once, and when it is over', async (t) => {
    const { server, agent, list } = await prepare(t);
    server.serves(list('a', 'b'), '"v1"');
    agent.run();
    const before = [await agent.up('a'), await agent.up('b')];
    assert.deepEqual(await server.answered(2), [304, 304]);
    server.answerWith((_, response) => response.writeHead(500).end('out of order'));
    assert.deepEqual(await server.answered(3), [500, 500, 500]);
    server.answerWith((_, response) => response.end('{"kind": "PodL'));
    await server.answered(3);
    await server.close();
    const down = await agent.logged('that nobody answers', (line) =>
      /ECONNREFUSED|other side closed|fetch failed/.test(JSON.stringify(line)),
    );
    assert.equal(down.msg, 'manifest URL cannot be read: its pods stay as they are');
    await server.reopen();
    server.serves(list('a', 'b', 'c'), '"v2"');
    await agent.up('c');
    assert.deepEqual([await agent.up('a'), await agent.up('b')], before);
    await agent.logged('that it is back', says('manifest URL can be read again'));
    const refusals = agent.lines.filter(({ level, msg }) => level !== 'info' && msg.startsWith('manifest'));
    assert.ok(refusals.length <= 5, JSON.stringify(refusals));
  });

  const odd: Readonly<Record<string, readonly [RequestListener, RegExp]>> = {
    'hangs before its answer': [() => {}, /no answer within 10 s/],
    'hangs in its answer': [(_, response) => void response.writeHead(200).write('{"kind": "PodList", "apiV'), /no answer within 10 s/],
    'breaks off': [
      (_, response) => {
        response.writeHead(200, { 'content-length': '1000' }).write('{"kind": "PodList"');
        setImmediate(() => response.destroy());
      },
      /terminated|other side closed/,
    ],
    'answers without end': [
      (_, response) => {
        const spaces = ' '.repeat(1 << 20);
        const more = (): void => {
          while (!response.destroyed && response.write(spaces));
          if (!response.destroyed) response.once('drain', more);
        };
        more();
      },
      /longer than 10485760 bytes/,
    ],
    'answers with nothing': [(_, response) => void response.end(), /zero-length data/],
    'sends round in circles': [(request, response) => void response.writeHead(302, { location: request.url }).end(), /redirect/],
    'redirects to nowhere': [(_, response) => void response.writeHead(302, { location: 'http://127.0.0.1:1/' }).end(), /./],
  };
  test('that misbehaves in any way takes no pod away, says what it did, and holds up no other source', async (t) => {
    const { server, agent, list } = await prepare(t);
    server.serves(list('a'));
    agent.run(`--manifest-url=${server.url}`, '--http-check-frequency=200ms');
    const before = await agent.up('a');
    for (const [what, [answer, words]] of Object.entries(odd)) {
      const from = agent.lines.length;
      server.answerWith(answer);
      await agent.logged(
        what,
        (line) => line.msg === 'manifest URL cannot be read: its pods stay as they are' && words.test(String(line['err'])),
        from,
      );
      const file = `file-${what.replaceAll(' ', '-')}`;
      await agent.declare(file, pod());
      await agent.up(file);
      server.serves(list('a'));
      await agent.logged('that it is well', says('manifest URL can be read again'), from);
      await agent.remove(file);
      await agent.gone(file);
    }
    assert.deepEqual(await agent.up('a'), before);
    server.answerWith((request, response) => {
      if (request.url === '/pods') response.writeHead(301, { location: '/moved' }).end();
      else response.end(JSON.stringify(list('a', 'b')));
    });
    await agent.up('b');
    assert.deepEqual(await agent.up('a'), before);
  });

  test('and a directory that declare one pod: it runs once, until both have let go of it; another of its name waits for its end', async (t) => {
    const { server, agent, list } = await prepare(t);
    server.serves(list('a'));
    agent.run(`--manifest-url=${server.url}`, '--http-check-frequency=200ms');
    const before = await agent.up('a');
    await agent.declare('a', pod());
    await agent.declare('b', pod());
    await agent.up('b');
    server.serves(list('c'));
    await agent.up('c');
    assert.deepEqual(await agent.up('a'), before);
    const from = agent.lines.length;
    await agent.declare('c', pod([app(), app(stays, { name: 'side' })]));
    await agent.logged('that it waits', (line) => JSON.stringify(line).includes('waits'), from);
    await agent.declare('d', pod());
    await agent.up('d');
    assert.equal((await agent.containers('c')).length, 2);
    server.serves(list());
    await agent.up('c', ['app', 'side']);
    assert.deepEqual(await agent.up('a'), before);
    await agent.remove('a');
    await agent.gone('a');
  });

  test('that serves an empty list ends its pods, and those of the directory stay', async (t) => {
    const { server, agent, list } = await prepare(t);
    server.serves(list('a'));
    agent.run(`--manifest-url=${server.url}`, '--http-check-frequency=200ms');
    await agent.declare('file', pod());
    await agent.up('a');
    const before = await agent.up('file');
    server.serves(list());
    await agent.gone('a');
    assert.deepEqual(await agent.up('file'), before);
  });

  test('that does not answer yet at the start takes no pod away that an earlier agent started', async (t) => {
    const { server, agent, list } = await prepare(t);
    server.serves(list('a'));
    agent.run();
    const before = await agent.up('a');
    await agent.kill('SIGKILL');
    await server.close();
    const from = agent.lines.length;
    agent.run();
    await agent.logged('that nobody answers', says('manifest URL cannot be read: its pods stay as they are'), from);
    await server.reopen();
    await agent.phase('a', 'Running', from);
    assert.deepEqual(await agent.up('a'), before);
  });
});
