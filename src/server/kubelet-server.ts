import { createServer as createHttpServer } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import { join } from 'node:path';
import { TLSSocket } from 'node:tls';
import { combineLatest, map, of, startWith } from 'rxjs';
import { anySignal } from '../base/any-signal.ts';
import type { Clock } from '../base/clock.ts';
import { drainInto } from '../base/drain-into.ts';
import { listenOnSocket } from '../base/listen-on-socket.ts';
import { LOCAL_SOCKET_NAME } from '../base/local-socket-name.ts';
import type { Logger } from '../base/logger.ts';
import type { Service } from '../base/service.ts';
import { tlsCipherSuites } from '../model/tls-settings.ts';
import type { KubeApi } from '../ports/kube-api.ts';
import type { Happenings } from '../ports/happenings.ts';
import { notTraced, type Tracing } from '../ports/tracing.ts';
import type { ServingCertificate, ServingPair } from '../ports/serving-certificate.ts';
import { ClientCaFile } from './auth/client-ca.ts';
import { clientCertificateUser } from './auth/client-certificate.ts';
import { nodeAccess } from './auth/node-access.ts';
import { closedPaths, debuggingPaths } from './closed-paths.ts';
import { foreignRequest } from './foreign-request.ts';
import { httpBounds, localBounds, runHttpListener, upgradesTo } from './http-listener.ts';
import { ListenerConnections, roomFor } from './listener-connections.ts';
import { keepTrying, type ListenAddress, listenOn } from './listen.ts';
import { pageListener } from './page-listener.ts';
import { requestHandler } from './request-handler.ts';
import type { Route } from '../ports/route.ts';
import { Router } from './router.ts';
import type { ServerOptionOrigins, ServerOptions } from './server-options.ts';
import { serverLimits } from './server-limits.ts';
import { tlsContext } from './tls-context.ts';

export interface KubeletServerDeps {
  readonly options: ServerOptions;
  readonly origins: ServerOptionOrigins;
  readonly routes: readonly Route[];
  /** Whom to ask about tokens and rights; undefined: the node belongs to no cluster. */
  readonly api: Pick<KubeApi, 'request'> | undefined;
  /** What the HTTPS port shows. Its maker runs it. */
  readonly certificate: ServingCertificate;
  /** Of what comes through the HTTPS and the read-only port. */
  readonly tell: Pick<Happenings, 'requestBegun' | 'requestEnded'>;
  readonly tracing: Tracing;
  readonly nodeName: string;
  /** How many files the agent may have open at a time, connections included. */
  readonly openFiles: number;
  /** Called once, when each port is listened on, or is taken for now and tried again. */
  readonly onListening: () => void;
  readonly clock: Clock;
  readonly log: Logger;
}

/**
 * The node's own server: HTTPS for the cluster, health for what watches the agent, a read-only port where one is asked for, and a socket
 * for people on the machine. Which failures to listen end the agent: docs/adr/0008-secure-by-default.md.
 */
export function kubeletServer(deps: KubeletServerDeps): Service {
  const { options } = deps;
  const listeners = [
    localSocket,
    ...(options.healthzPort > 0 ? [healthz] : []),
    ...(options.enableServer ? [https] : []),
    ...(options.enableServer && options.readOnlyPort > 0 ? [readOnly] : []),
    ...(options.pageAddress === '' ? [] : [pageListener]),
  ];
  return {
    name: 'server',
    async run(signal) {
      using stop = anySignal(signal);
      let untried = listeners.length;
      const runs = listeners.map(async (listener) => {
        const onTried = (): void => {
          if (--untried === 0) deps.onListening();
        };
        try {
          await listener({ ...deps, onTried }, stop.signal);
        } catch (error) {
          stop.abort(error);
          throw error;
        }
      });
      const ends = await Promise.allSettled(runs);
      const failure = ends.find((end) => end.status === 'rejected');
      if (failure !== undefined && !signal.aborted) throw stop.signal.reason;
    },
  };
}

export type ListenerDeps = KubeletServerDeps & { readonly onTried: () => void };

const HANDSHAKE_TIMEOUT_MS = 10_000;
/** How long a client may be connected before a request of it is let in: handshake, headers and review all together take less. */
const STRANGER_MS = 60_000;
/** Short answers are taken at once, or the client has gone. */
const UNTAKEN_MS = 60_000;

/** Without a cluster nothing is open to the network unless an address was asked for. */
export function servingAddress({ options, origins, api }: Pick<KubeletServerDeps, 'options' | 'origins' | 'api'>): string {
  return api === undefined && origins.address === 'default' ? '127.0.0.1' : options.address;
}

async function https(deps: ListenerDeps, stop: AbortSignal): Promise<void> {
  const { options, origins, routes, api, certificate, tell, tracing, nodeName, clock, onTried } = deps;
  const { strangers, guests } = serverLimits(deps.openFiles);
  const log = deps.log.child({ listener: 'https' });
  const clientCa = options.clientCaFile === '' ? undefined : await ClientCaFile.open(options.clientCaFile, clock, log);
  /** When each handshake ended: one that began before the authorities changed was checked against the old ones. */
  const handshakes = new WeakMap<object, number>();
  const connections = roomFor({ strangers, guests, strangerMs: STRANGER_MS }, clock, log);
  const handler = requestHandler({
    router: new Router(routes, { debugging: options.enableDebuggingHandlers, closed: closedPaths(options) }),
    access: {
      control: nodeAccess({ options, origins, nodeName, api, clock, log, stop }),
      certificateUser: ({ socket }) => {
        if (clientCa === undefined || !(socket instanceof TLSSocket)) return undefined;
        const isCurrent = (handshakes.get(socket) ?? 0) > clientCa.sinceMs + HANDSHAKE_TIMEOUT_MS;
        return clientCertificateUser(socket, { bundle: clientCa.current, isCurrent, nowMs: clock.now() });
      },
      onLetIn: (socket) => connections.letIn(socket),
    },
    tell,
    tracing,
    clock,
    log,
  });
  const server = createHttpsServer({
    ...httpBounds,
    ...upgradesTo(handler),
    ...tlsContext(options, undefined, clientCa?.current.pem),
    ALPNProtocols: ['http/1.1'],
    handshakeTimeout: HANDSHAKE_TIMEOUT_MS,
    requestCert: clientCa !== undefined,
    // A bad certificate is refused by HTTP, with the reason.
    rejectUnauthorized: false,
  });
  server.on('secureConnection', (socket) => handshakes.set(socket, clock.monotonicMs()));
  const weak = options.tlsCipherSuites.filter((name) => tlsCipherSuites[name] === undefined);
  if (weak.length > 0) log.warn('weak cipher suites ignored', { suites: weak.join(', ') });
  const contexts = combineLatest([
    certificate.pairs.pipe(
      map((pair): ServingPair | undefined => pair),
      startWith(undefined),
    ),
    clientCa?.bundles ?? of(undefined),
  ]);
  const show = ([pair, bundle]: readonly [ServingPair | undefined, { readonly pem: string } | undefined]): void => {
    try {
      server.setSecureContext(tlsContext(options, pair, bundle?.pem));
      // Clients that come back are checked again.
      server.closeIdleConnections();
    } catch (error) {
      log.error('serving certificate not usable, keeping the previous one', { error });
    }
  };
  const where: ListenAddress = { address: servingAddress(deps), port: options.port, portFlag: 'port', addressFlag: 'address' };
  // Alone on a machine, a port that was not asked for is no reason not to run pods.
  const isOptional = api === undefined && origins.port === 'default' && origins.address === 'default';
  const listen = async (signal: AbortSignal): Promise<void> => {
    await (isOptional ? keepTrying(() => listenOn(server, where), { clock, log, onTried }, signal) : listenOn(server, where).then(onTried));
    if (server.listening) log.info('serving', { address: where.address, port: where.port });
  };
  const until = anySignal(stop);
  await Promise.all([
    runHttpListener(
      { server, connections, handler, stalledAfterMs: options.streamingConnectionIdleTimeoutMs, clock, log },
      listen,
      stop,
    ).finally(() => until.abort()),
    drainInto(contexts, show, until.signal),
    clientCa?.follow(until.signal),
  ]);
}

async function readOnly(deps: ListenerDeps, stop: AbortSignal): Promise<void> {
  const { options, routes } = deps;
  const where: ListenAddress = {
    address: servingAddress(deps),
    port: options.readOnlyPort,
    portFlag: 'read-only-port',
    addressFlag: 'address',
  };
  const open = routes.filter((route) => route.readOnly === true && route.debugging !== true);
  await plain(deps, 'read-only', new Router(open, { debugging: false, closed: debuggingPaths }), where, 'fail', stop);
}

async function healthz(deps: ListenerDeps, stop: AbortSignal): Promise<void> {
  const { options, routes } = deps;
  const where: ListenAddress = {
    address: options.healthzBindAddress,
    port: options.healthzPort,
    portFlag: 'healthz-port',
    addressFlag: 'healthz-bind-address',
  };
  const healthRoutes = routes.filter(({ path }) => path === '/healthz' || path.startsWith('/healthz/'));
  await plain(deps, 'healthz', new Router(healthRoutes, { debugging: true }), where, 'retry', stop);
}

async function plain(
  deps: ListenerDeps,
  name: 'read-only' | 'healthz',
  router: Router,
  where: ListenAddress,
  onTaken: 'fail' | 'retry',
  stop: AbortSignal,
): Promise<void> {
  const { openFiles, clock, tell, onTried } = deps;
  const log = deps.log.child({ listener: name });
  const handler = requestHandler({
    router,
    access: undefined,
    tell: name === 'healthz' ? undefined : tell,
    tracing: notTraced,
    clock,
    log,
  });
  const server = createHttpServer({ ...httpBounds, ...upgradesTo(handler) });
  const { unasked } = serverLimits(openFiles);
  const connections = roomFor({ strangers: unasked, guests: 0, strangerMs: Number.POSITIVE_INFINITY }, clock, log);
  const listen = async (signal: AbortSignal): Promise<void> => {
    await (onTaken === 'retry'
      ? keepTrying(() => listenOn(server, where), { clock, log, onTried }, signal)
      : listenOn(server, where).then(onTried));
    if (server.listening) log.info('serving', { address: where.address, port: where.port });
  };
  await runHttpListener({ server, connections, handler, stalledAfterMs: UNTAKEN_MS, clock, log }, listen, stop);
}

/** Everything, for the owner of the agent's files. */
async function localSocket(deps: ListenerDeps, stop: AbortSignal): Promise<void> {
  const { options, routes, tracing, clock, onTried } = deps;
  const log = deps.log.child({ listener: 'local' });
  const handler = requestHandler({
    router: new Router(routes, { debugging: true }),
    // A browser comes here where the socket is forwarded to a port.
    foreign: foreignRequest,
    access: undefined,
    tell: undefined,
    tracing,
    clock,
    log,
  });
  const server = createHttpServer({ ...localBounds, ...upgradesTo(handler) });
  const connections = new ListenerConnections();
  let remove: (() => Promise<void>) | undefined;
  const listen = async (signal: AbortSignal): Promise<void> => {
    const path = join(options.rootDir, LOCAL_SOCKET_NAME);
    await keepTrying(async () => void (remove = await listenOnSocket(server, path, 0o600)), { clock, log, onTried }, signal);
    if (server.listening) log.info('serving', { path });
  };
  try {
    await runHttpListener(
      { server, connections, handler, stalledAfterMs: options.streamingConnectionIdleTimeoutMs, clock, log },
      listen,
      stop,
    );
  } finally {
    await remove?.();
  }
}
