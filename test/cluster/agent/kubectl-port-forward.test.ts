import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { test } from 'node:test';
import { app, pod } from '../../integration/agent/pod-specs.ts';
import { keepsApart } from '../../builders/many-connections.ts';
import { describeKubectl } from './describe-kubectl.ts';

const pages =
  "trap 'exit 0' TERM; nc -ll -p 7 -e cat & mkdir /www; head -c 20000000 /dev/urandom >/www/big; httpd -f -p 8080 -h /www & wait $!";

async function connected(port: number): Promise<Socket> {
  const socket = connect(port, '127.0.0.1');
  await once(socket, 'connect');
  return socket;
}

/** The body of a page, by HTTP/1.0. */
async function get(socket: Socket, path: string): Promise<Buffer> {
  socket.write(`GET ${path} HTTP/1.0\r\n\r\n`);
  const answer = await buffer(socket);
  return answer.subarray(answer.indexOf('\r\n\r\n') + 4);
}

describeKubectl(
  'port-forward',
  async (node) => {
    await node.create('web', pod([app(pages, { readinessProbe: { tcpSocket: { port: 8080 }, periodSeconds: 1 } })]));
    await node.up('web');
  },
  (kubectl) => {
    const forward = async (t: Parameters<typeof kubectl.start>[0], port: number) => {
      const session = kubectl.start(t, 'port-forward', kubectl.pod('web'), `:${port}`);
      const [, local] = await session.prints(/Forwarding from 127\.0\.0\.1:(\d+) -> /);
      return { session, local: Number(local) };
    };

    test('a hundred connections that are open at once are kept apart', async (t) => {
      const { session, local } = await forward(t, 7);
      await keepsApart(100, () => connected(local));
      assert.equal(session.stderr, '');
      // The session is as good as before.
      await keepsApart(1, () => connected(local));
    });

    test('20 MB come through whole, three times at once', async (t) => {
      const { local } = await forward(t, 8080);
      const sum = (await kubectl.prints('exec', kubectl.pod('web'), '--', 'sha256sum', '/www/big')).split(' ')[0];
      const bodies = await Promise.all([1, 2, 3].map(async () => get(await connected(local), '/big')));
      for (const body of bodies) assert.equal(hash('sha256', body), sum);
    });

    test('a port where nobody listens is said to refuse, and the connection ends', async (t) => {
      const { session, local } = await forward(t, 8081);
      assert.equal((await get(await connected(local), '/')).length, 0);
      await session.prints(/error forwarding port 8081 to pod [0-9a-f]{64}, uid : .*[Cc]onnection refused/, 'stderr');
    });

    test('connections that are cut do not disturb the others', async (t) => {
      const { local } = await forward(t, 8080);
      const slow = await connected(local);
      const page = get(slow, '/big');
      for (let at = 0; at < 20; at++) {
        const cut = await connected(local);
        // Within the request: old kubectls choke themselves on an answer that nobody takes from them.
        cut.write('GET /bi');
        cut.resetAndDestroy();
      }
      assert.equal((await page).length, 20_000_000);
    });
  },
);
