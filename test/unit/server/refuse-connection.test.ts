import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { connect as connectTls, createServer as createTlsServer } from 'node:tls';
import { refuseConnection } from '../../../src/server/refuse-connection.ts';
import { aCa } from '../../builders/a-pki.ts';
import { FakeClock } from '../../fakes/fake-clock.ts';

const pair = aCa().issue({ commonName: 'node', hosts: ['127.0.0.1'] });

let clock: FakeClock;
let client: Socket | undefined;
let server: Server;
beforeEach(() => {
  clock = new FakeClock();
});
afterEach(async () => {
  client?.destroy();
  server.close();
  await once(server, 'close');
  assert.deepEqual(
    clock.actions.filter(({ closed }) => !closed),
    [],
    'no timer is left',
  );
});

for (const tls of [false, true]) {
  describe(`a refused connection ${tls ? 'with' : 'without'} TLS is closed, and its client is told why,`, () => {
    /** A client that says this and waits to be refused. */
    async function refused(says: string): Promise<{ readonly client: Socket; readonly accepted: Socket; readonly over: Promise<void> }> {
      const options = { cert: pair.certificatePem, key: pair.keyPem, allowHalfOpen: true };
      server = tls ? createTlsServer(options) : createServer({ allowHalfOpen: true });
      server.listen(0, '127.0.0.1');
      await once(server, 'listening');
      const where = { host: '127.0.0.1', port: (server.address() as AddressInfo).port, allowHalfOpen: true };
      const came = once(server, tls ? 'secureConnection' : 'connection');
      const socket: Socket = tls ? connectTls({ ...where, rejectUnauthorized: false }) : connect(where);
      socket.on('error', () => {});
      client = socket;
      const [accepted] = (await came) as [Socket];
      socket.write(says);
      return { client: socket, accepted, over: refuseConnection(accepted, clock, 401, 'Unauthorized') };
    }

    test('where the client reads, closes, and has sent more', async () => {
      const { client: reader, over } = await refused('x'.repeat(200_000));
      let heard = '';
      reader.on('data', (bytes) => (heard += String(bytes))).on('end', () => reader.end());
      await over;
      assert.match(heard, /^HTTP\/1\.1 401 Unauthorized\r\n[^]*\r\nConnection: close\r\n\r\nUnauthorized$/);
    });

    test('where the client reads, and never closes', async () => {
      const { client: reader, accepted, over } = await refused('x'.repeat(200));
      await once(reader.resume(), 'end');
      assert.equal(accepted.closed, false);
      await clock.advance(1_000);
      await over;
      assert.equal(accepted.closed, true);
    });

    test('where the client goes on sending for ever', async () => {
      const { client: sender, accepted, over } = await refused('x');
      const send = (error?: Error | null): void => void (error || sender.write('x'.repeat(10_000), send));
      send();
      await once(sender.resume(), 'end');
      await clock.advance(1_000);
      await over;
      assert.equal(accepted.closed, true);
    });

    test('where the client has closed its side before', async () => {
      const { client: sender, accepted, over } = await refused('x'.repeat(200));
      sender.end();
      await once(sender.resume(), 'end');
      await clock.advance(1_000);
      await over;
      assert.equal(accepted.closed, true);
    });

    test('where the client reads nothing', async () => {
      const { client: deaf, accepted, over } = await refused('x'.repeat(200));
      deaf.pause();
      if (!accepted.writableFinished) await once(accepted, 'finish');
      await clock.advance(1_000);
      await over;
      assert.equal(accepted.closed, true);
    });
  });
}
