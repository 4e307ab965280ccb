import assert from 'node:assert/strict';
import { once } from 'node:events';
import { test } from 'node:test';
import { WebSocket } from 'ws';
import { execServer } from '../../../builders/an-exec-server.ts';
import { upgrade } from '../../../builders/upgrade.ts';

const IDLE_MS = 60_000;

async function setUp() {
  const served = await execServer({ idleTimeoutMs: IDLE_MS });
  return {
    ...served,
    connect: (query: string, ...protocols: string[]) => new Client(`ws://127.0.0.1:${served.server.port}/exec?${query}`, protocols),
  };
}

/** Keeps what each channel says. */
class Client extends WebSocket {
  readonly seen: { channel: number; text: string; binary: boolean }[] = [];
  readonly ended: Promise<number>;

  constructor(url: string, protocols: string[]) {
    super(url, protocols);
    this.on('message', (data: Buffer, binary) => this.seen.push({ channel: data[0]!, text: data.toString('latin1', 1), binary }));
    this.ended = once(this, 'close').then(([code]) => Number(code));
  }

  said(channel: number): string {
    return this.seen
      .filter((message) => message.channel === channel)
      .map(({ text }) => text)
      .join('');
  }
}

const protocols: readonly { readonly name: string; readonly json: boolean; readonly base64?: true }[] = [
  { name: '', json: false },
  { name: 'channel.k8s.io', json: false },
  { name: 'base64.channel.k8s.io', json: false, base64: true },
  { name: 'v4.channel.k8s.io', json: true },
  { name: 'v4.base64.channel.k8s.io', json: true, base64: true },
  { name: 'v5.channel.k8s.io', json: true },
];
for (const { name, json, base64 } of protocols) {
  test(`"${name}": input, outputs and the exit code`, async () => {
    await using at = await setUp();
    const client = at.connect('input=1&output=1&error=1', ...(name === '' ? [] : [name]));
    await once(client, 'open');
    assert.equal(client.protocol, name);
    const session = await at.session;
    client.send(base64 ? `0${Buffer.from('typed').toString('base64')}` : Buffer.from('\0typed'));
    const [typed] = (await once(session.stdin!, 'data')) as [Buffer];
    assert.equal(String(typed), 'typed');
    session.stdout!.write('out');
    session.stderr!.write('err');
    session.exit(2);
    assert.equal(await client.ended, 1000);
    const decode = (channel: number): string => {
      const text = client.said(base64 ? 48 + channel : channel);
      return base64 ? Buffer.from(text, 'base64').toString() : text;
    };
    assert.equal(decode(1), 'out');
    assert.equal(decode(2), 'err');
    const message = 'command terminated with non-zero exit code: Error executing in Docker Container: 2';
    assert.equal(json ? (JSON.parse(decode(3)) as { message: string }).message : decode(3), message);
    assert.deepEqual(
      client.seen[0],
      { channel: base64 ? 49 : 1, text: '', binary: base64 !== true },
      'an empty message says that the connection is there',
    );
  });
}

test('v5 closes the input alone', async () => {
  await using at = await setUp();
  const client = at.connect('input=1&output=1', 'v5.channel.k8s.io');
  await once(client, 'open');
  const session = await at.session;
  client.send(Buffer.from('\0all'));
  client.send(Buffer.of(255, 0));
  assert.equal(String(Buffer.concat(await session.stdin!.toArray())), 'all');
  session.stdout!.write('counted');
  session.exit(0);
  await client.ended;
  assert.equal(client.said(1), 'counted');
  assert.equal(client.said(3), '{"metadata":{},"status":"Success"}');
});

test('v4 knows no such signal', async () => {
  await using at = await setUp();
  const client = at.connect('input=1', 'v4.channel.k8s.io');
  await once(client, 'open');
  const session = await at.session;
  client.send(Buffer.of(255, 0));
  client.send(Buffer.from('\0x'));
  await once(session.stdin!, 'data');
  assert.equal(session.stdin!.readableEnded, false);
  session.exit(0);
  await client.ended;
});

test('sizes come on channel 4; channels that are unknown, or the wrong way, are passed over', async () => {
  await using at = await setUp();
  const client = at.connect('output=1&tty=1', 'v4.channel.k8s.io');
  await once(client, 'open');
  const session = await at.session;
  for (const text of ['\0no input was asked for', '\u0001x', '\u0007x', '', '\u0004{"Width":10,"Height":20}'])
    client.send(Buffer.from(text));
  while (session.sizes.length === 0) await new Promise((done) => setImmediate(done));
  assert.deepEqual(session.sizes, [{ width: 10, height: 20 }]);
  session.exit(0);
  await client.ended;
});

test('pings are answered', async () => {
  await using at = await setUp();
  const client = at.connect('output=1', 'v4.channel.k8s.io');
  await once(client, 'open');
  client.ping('are you there');
  const [payload] = (await once(client, 'pong')) as [Buffer];
  assert.equal(String(payload), 'are you there');
  (await at.session).exit(0);
  await client.ended;
});

test('a session on which nothing happens ends after the idle timeout', async () => {
  await using at = await setUp();
  const client = at.connect('output=1', 'v4.channel.k8s.io');
  await once(client, 'open');
  const session = await at.session;
  await at.clock.advance(IDLE_MS);
  assert.equal(session.signal.aborted, true);
  await client.ended;
});

test('a client that leaves ends the session', async () => {
  await using at = await setUp();
  const client = at.connect('output=1', 'v4.channel.k8s.io');
  await once(client, 'open');
  const session = await at.session;
  client.terminate();
  await once(session.signal, 'abort');
});

test('ten megabytes each way, at the pace of the slower', async () => {
  await using at = await setUp();
  const client = at.connect('input=1&output=1', 'v5.channel.k8s.io');
  await once(client, 'open');
  const session = await at.session;
  session.stdin!.pipe(session.stdout!, { end: true });
  let bytes = 0;
  client.on('message', (data: Buffer) => {
    if (data[0] === 1) bytes += data.length - 1;
  });
  for (let i = 0; i < 160; i++) await new Promise((sent) => client.send(Buffer.alloc(65_537), sent));
  client.send(Buffer.of(255, 0));
  await once(session.stdout!, 'end');
  session.exit(0);
  await client.ended;
  assert.equal(bytes, 160 * 65_536);
});

const webSocketHeaders = {
  connection: 'keep-alive, Upgrade',
  upgrade: 'websocket',
  'sec-websocket-version': '13',
  'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
};
const refusals: readonly [string, { method?: string; headers: Record<string, string> }, number, RegExp][] = [
  ['POST', { method: 'POST', headers: webSocketHeaders }, 405, /bad method/],
  ['another version', { headers: { ...webSocketHeaders, 'sec-websocket-version': '8' } }, 400, /missing or bad WebSocket Version/],
  ['no key', { headers: { connection: 'upgrade', upgrade: 'websocket', 'sec-websocket-version': '13' } }, 400, /mismatch challenge/],
  ['a bad key', { headers: { ...webSocketHeaders, 'sec-websocket-key': 'x' } }, 400, /Sec-WebSocket-Key/],
  [
    'an unknown subprotocol',
    { headers: { ...webSocketHeaders, 'sec-websocket-protocol': 'v9' } },
    403,
    /requested protocol\(s\) are not supported: \[v9\]/,
  ],
];
for (const [name, options, status, body] of refusals) {
  test(`${name}: HTTP ${status}`, async () => {
    await using at = await setUp();
    const answer = await upgrade({ port: at.server.port, path: '/exec?output=1', ...options });
    assert.equal(answer.status, status);
    assert.match(answer.body, body);
  });
}
