import assert from 'node:assert/strict';
import { createServer as createHttpServer } from 'node:http';
import { createServer as createHttp2Server, type ServerHttp2Stream } from 'node:http2';
import { createServer as createHttpsServer } from 'node:https';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { describe, test } from 'node:test';
import { systemClock } from '../../../src/base/clock.ts';
import { expandProbeCommand } from '../../../src/probes/exec-probe.ts';
import { healthCheckRequest, healthCheckStatus } from '../../../src/probes/grpc-health.ts';
import { grpcProbe } from '../../../src/probes/grpc-probe.ts';
import { httpProbe } from '../../../src/probes/http-probe.ts';
import { probeUrl } from '../../../src/probes/probe-request.ts';
import { probeRunner } from '../../../src/probes/run-probe.ts';
import { tcpProbe } from '../../../src/probes/tcp-probe.ts';
import type { ContainerId } from '../../../src/ports/container-runtime.ts';
import { aContainer } from '../../builders/a-pod.ts';
import { aCa } from '../../builders/a-pki.ts';

const clock = systemClock;
const never = new AbortController().signal;
const userAgent = 'kube-probe/1.36';
const host = '127.0.0.1';

/** Runs `work` with the port that the server listens on. */
async function serving<T>(server: Pick<Server, 'listen' | 'close' | 'address'>, work: (port: number) => Promise<T>): Promise<T> {
  await new Promise<void>((listening) => server.listen(0, host, listening));
  try {
    return await work((server.address() as AddressInfo).port);
  } finally {
    await new Promise((closed) => server.close(closed));
  }
}

const closedPort = (): Promise<number> => serving(createServer(), async (port) => port);

describe('a probe over HTTP', () => {
  const options = { clock, timeoutMs: 5_000, userAgent };
  const get = (scheme: string, port: number, timeoutMs = 5_000, signal = never): ReturnType<typeof httpProbe> =>
    httpProbe(probeUrl(scheme, host, port, '/x'), new Map(), { ...options, timeoutMs }, signal);

  test('verifies no certificate', async () => {
    const { certificatePem: cert, keyPem: key } = aCa().issue({ commonName: 'somebody else', hosts: ['elsewhere'] });
    const outcome = await serving(
      createHttpsServer({ cert, key }, (_, answer) => answer.end('safe')),
      (port) => get('https', port),
    );
    assert.deepEqual(outcome, { result: 'success', output: 'safe' });
  });

  test('to a server without TLS says so', async () => {
    const { output } = await serving(
      createHttpServer((_, answer) => answer.end()),
      (port) => get('https', port),
    );
    assert.match(output, /^Get "https:\/\/127\.0\.0\.1:\d+\/x": http: server gave HTTP response to HTTPS client$/);
  });

  test('writes its request as the text of its URL is read, and a name beyond ASCII as the DNS has it', async () => {
    const seen: unknown[] = [];
    const server = createHttpServer(({ url, headers, rawHeaders }, answer) => {
      const [, value = ''] = rawHeaders.slice(rawHeaders.indexOf('X'));
      seen.push([url, headers.host, Buffer.from(value, 'latin1').toString()]);
      if (url === '/x') answer.setHeader('Location', Buffer.from('/é').toString('latin1'));
      answer.writeHead(url === '/x' ? 302 : 200).end();
    });
    const headers = new Map([
      ['Host', ['bücher.example:80']],
      ['X', [' \u00a0é\t']],
    ]);
    await serving(server, async (port) => {
      for (const path of ['x', '*']) await httpProbe(probeUrl('http', host, port, path), headers, options, never);
    });
    const [name, value] = ['xn--bcher-kva.example:80', '\u00a0é'];
    assert.deepEqual(seen, [
      ['/x', name, value],
      ['/%C3%A9', name, value],
      ['/*', name, value],
    ]);
    const { result, output } = await httpProbe(probeUrl('http', host, 80, 'mailto:x'), new Map(), options, never);
    assert.deepEqual([result, output], ['failure', 'Get "http:x": http: no Host in request URL']);
  });

  test('warns of a redirect that it does not follow, with the body as it came', async () => {
    const body = '<a href="http://0.0.0.0/">Found</a>.';
    const outcome = await serving(
      createHttpServer((_, answer) => answer.writeHead(302, { Location: 'http://0.0.0.0/' }).end(body)),
      (port) => get('http', port),
    );
    assert.deepEqual(outcome, { result: 'warning', output: `Probe terminated redirects, Response body: ${body}` });
  });

  test('that ends without an answer has failed', async () => {
    const { result, output } = await serving(
      createServer((socket) => socket.once('data', () => socket.end())),
      (port) => get('http', port),
    );
    assert.equal(result, 'failure');
    assert.match(output, /": EOF$/);
  });

  test('whose answer breaks off rejects, as nothing is known then', async () => {
    const server = createServer((socket) => socket.once('data', () => socket.end('HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc')));
    await assert.rejects(
      serving(server, (port) => get('http', port)),
      /^HttpGetError: unexpected EOF$/,
    );
  });

  test('whose answer does not end in time rejects', async () => {
    const server = createServer((socket) => {
      socket.once('data', () => socket.write('HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc'));
      socket.on('error', () => {});
    });
    await assert.rejects(
      serving(server, (port) => get('http', port, 50)),
      /Client\.Timeout or context cancellation while reading body/,
    );
  });

  test('that is no longer wanted rejects with the reason', async () => {
    const aborter = new AbortController();
    const server = createServer((socket) => {
      socket.once('data', () => aborter.abort(new Error('not wanted')));
      socket.on('error', () => {});
    });
    await assert.rejects(
      serving(server, (port) => get('http', port, 5_000, aborter.signal)),
      /not wanted/,
    );
  });

  test('sends no header that is none', async () => {
    const outcome = await httpProbe(probeUrl('http', host, 1, '/'), new Map([['a b', ['c']]]), options, never);
    assert.deepEqual(outcome, { result: 'failure', output: 'Get "http://127.0.0.1:1/": net/http: invalid header field name "a b"' });
  });
});

describe('a probe over TCP', () => {
  const options = { clock, timeoutMs: 5_000 };
  test('passes when the connection is taken', async () => {
    assert.deepEqual(
      await serving(
        createServer((socket) => socket.end()),
        (port) => tcpProbe(host, port, options, never),
      ),
      { result: 'success', output: '' },
    );
  });
  test('fails when it is refused', async () => {
    const port = await closedPort();
    const output = `dial tcp ${host}:${port}: connect: connection refused`;
    assert.deepEqual(await tcpProbe(host, port, options, never), { result: 'failure', output });
  });
});

describe('a probe over gRPC', () => {
  const probe = (port: number, service = '', timeoutMs = 5_000): ReturnType<typeof grpcProbe> =>
    grpcProbe(host, port, service, { clock, timeoutMs, userAgent }, never);

  /** A health server: of services known to it, their statuses. */
  const health = (
    known: Readonly<Record<string, number>>,
    over: (stream: ServerHttp2Stream) => boolean = () => false,
  ): ReturnType<typeof createHttp2Server> => {
    const server = createHttp2Server();
    server.on('stream', (stream, headers) => {
      const chunks: Buffer[] = [];
      stream.on('error', () => {});
      stream.on('data', (chunk: Buffer) => chunks.push(chunk));
      stream.on('end', () => {
        if (over(stream)) return;
        assert.equal(headers[':path'], '/grpc.health.v1.Health/Check');
        assert.equal(headers['user-agent'], userAgent);
        const service = Buffer.concat(chunks).subarray(7).toString();
        const status = known[service];
        if (status === undefined) {
          stream.respond({ ':status': 200, 'grpc-status': 5, 'grpc-message': 'unknown%20service' }, { endStream: true });
          return;
        }
        stream.respond({ ':status': 200, 'content-type': 'application/grpc' }, { waitForTrailers: true });
        stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '0' }));
        stream.end(status === 0 ? Buffer.alloc(5) : Buffer.of(0, 0, 0, 0, 2, 8, status));
      });
    });
    return server;
  };

  for (const [name, service, expected] of [
    ['that serves passes', '', { result: 'success', output: 'service healthy' }],
    ['asks for the service that is named', 'db', { result: 'failure', output: 'service unhealthy (responded with "NOT_SERVING")' }],
    ['that does not know itself fails', 'new', { result: 'failure', output: 'service unhealthy (responded with "UNKNOWN")' }],
    [
      'fails where the service is not known',
      'other',
      { result: 'failure', output: 'error: health rpc probe failed: rpc error: code = NotFound desc = unknown service' },
    ],
  ] as const)
    test(name, async () => {
      assert.deepEqual(await serving(health({ '': 1, db: 2, new: 0 }), (port) => probe(port, service)), expected);
    });

  test('tells a server without a health service', async () => {
    const server = health({}, (stream) => {
      stream.respond({ ':status': 200, 'grpc-status': 12, 'grpc-message': 'unknown service grpc.health.v1.Health' }, { endStream: true });
      return true;
    });
    const { output } = await serving(server, (port) => probe(port));
    assert.equal(
      output,
      'error: this server does not implement the grpc health protocol (grpc.health.v1.Health): unknown service grpc.health.v1.Health',
    );
  });

  test('waits no longer than its timeout', async () => {
    const { output } = await serving(
      health({}, () => true),
      (port) => probe(port, '', 300),
    );
    assert.equal(output, 'timeout: health rpc did not complete within 300ms');
  });

  test('fails where nobody listens', async () => {
    const port = await closedPort();
    const output = `error: failed to connect service at "${host}:${port}": dial tcp ${host}:${port}: connect: connection refused`;
    assert.deepEqual(await probe(port), { result: 'failure', output });
  });

  test('fails where somebody speaks something else', async () => {
    const { result } = await serving(
      createServer((socket) => {
        socket.on('error', () => {});
        socket.resume().end('HTTP/1.1 400 Bad Request\r\n\r\n');
      }),
      (port) => probe(port),
    );
    assert.equal(result, 'failure');
  });

  test('writes and reads its messages as protobuf does', () => {
    assert.deepEqual([...healthCheckRequest('')], []);
    assert.deepEqual([...healthCheckRequest('ab')], [10, 2, 97, 98]);
    assert.equal(healthCheckRequest('x'.repeat(200)).length, 3 + 200);
    assert.equal(healthCheckStatus(Buffer.of()), 'UNKNOWN');
    assert.equal(healthCheckStatus(Buffer.of(8, 3)), 'SERVICE_UNKNOWN');
    assert.equal(healthCheckStatus(Buffer.of(0x12, 2, 97, 98, 8, 1)), 'SERVING');
    for (const broken of [[8], [0x0b], [8, 0xff, 0xff, 0xff, 0xff, 0xff]]) assert.equal(healthCheckStatus(Buffer.from(broken)), undefined);
  });
});

describe('a probe', () => {
  const run = probeRunner({ clock, userAgent, access: { exec: async () => Promise.reject(new Error('no container')) } });
  const target = { container: aContainer('app'), id: 'c1' as ContainerId, podIp: undefined };

  test('knows the static variables of the container, and the others as empty', () => {
    const env = [
      { name: 'A', value: 'a' },
      { name: 'B', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } },
    ];
    assert.deepEqual(expandProbeCommand(['$(A)-$(B)-$(C)', '$$(A)'], { env }), ['a--$(C)', '$(A)']);
  });

  for (const [name, probe, expected] of [
    ['of a pod without an address says nothing', { httpGet: { port: 80 } }, /the pod has no address yet/],
    ['of a port without a name says nothing', { tcpSocket: { port: 'web', host } }, /strconv\.Atoi: parsing "web": invalid syntax/],
    ['of nothing says nothing', {}, /missing probe handler for container app/],
    ['in a container that is gone says nothing', { exec: { command: ['true'] } }, /no container/],
  ] as const)
    test(name, async () => assert.rejects(run(probe, target, never), expected));
});
