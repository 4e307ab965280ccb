import { createServer } from 'node:http';
import { parseLoopbackAddress } from '../base/loopback-address.ts';
import type { Route } from '../ports/route.ts';
import { notTraced } from '../ports/tracing.ts';
import { nodeAccess } from './auth/node-access.ts';
import { foreignRequest } from './foreign-request.ts';
import { httpBounds, runHttpListener, upgradesTo } from './http-listener.ts';
import type { ListenerDeps } from './kubelet-server.ts';
import { keepTrying, type ListenAddress, listenOn } from './listen.ts';
import { roomFor } from './listener-connections.ts';
import { requestHandler, type RequestHandlerDeps } from './request-handler.ts';
import { Router } from './router.ts';
import { serverLimits } from './server-limits.ts';

/** Short answers are taken at once, and a followed one is never silent for so long with something to be read. */
const UNTAKEN_MS = 60_000;

/**
 * The page on a loopback address: its files, and what it shows. Without a cluster everybody on this machine may see it, who asked for it knows;
 * in a cluster only who may read the node, by the token that the page asks for.
 */
export async function pageListener(deps: ListenerDeps, stop: AbortSignal): Promise<void> {
  const { options, routes, openFiles, clock, onTried } = deps;
  const log = deps.log.child({ listener: 'page' });
  const asked = parseLoopbackAddress(options.pageAddress);
  if (asked === undefined) throw new Error(`--page-address: ${options.pageAddress} is no loopback address`);
  const where: ListenAddress = { ...asked, portFlag: 'page-address', addressFlag: 'page-address' };
  const { unasked } = serverLimits(openFiles);
  const connections = roomFor({ strangers: unasked, guests: unasked, strangerMs: Number.POSITIVE_INFINITY }, clock, log);
  const files = pageRoutes(routes, (page) => page !== 'data');
  const handler = requestHandler({
    router: new Router([...files, ...pageRoutes(routes, (page) => page === 'data')], { debugging: true }),
    foreign: foreignRequest,
    access: accessTo(files, deps, (socket) => connections.letIn(socket), stop),
    tell: undefined,
    tracing: notTraced,
    clock,
    log,
  });
  const server = createServer({ ...httpBounds, ...upgradesTo(handler) });
  const listen = async (signal: AbortSignal): Promise<void> => {
    await keepTrying(() => listenOn(server, where), { clock, log, onTried }, signal);
    const bound = server.address();
    // A port of 0 is one that the system chose.
    if (typeof bound === 'object' && bound !== null) log.info('serving', { address: where.address, port: bound.port });
  };
  await runHttpListener({ server, connections, handler, stalledAfterMs: UNTAKEN_MS, clock, log }, listen, stop);
}

function pageRoutes(routes: readonly Route[], wanted: (page: Route['page']) => boolean): readonly Route[] {
  const served = routes.filter(({ page }) => page !== undefined && wanted(page));
  const home = served.find(({ page }) => page === 'home');
  if (home === undefined) return served;
  const root: Route = {
    methods: ['GET'],
    path: '/',
    handle: async (_request, response) => void response.writeHead(307, { Location: home.path }).end(),
  };
  return [root, ...served];
}

/** Files are the same for all, and hold nothing of this node: without them nobody could be asked for a token. */
function accessTo(
  files: readonly Route[],
  { options, origins, nodeName, api, clock, log }: ListenerDeps,
  onLetIn: (socket: RequestHandlerSocket) => void,
  stop: AbortSignal,
): RequestHandlerDeps['access'] {
  if (api === undefined) return undefined;
  const control = nodeAccess({ options, origins, nodeName, api, clock, log, stop });
  const open = new Router(files, { debugging: true });
  return {
    control: async (request) => ('route' in open.find(request.method, request.path) ? undefined : control(request)),
    certificateUser: () => undefined,
    onLetIn,
  };
}

type RequestHandlerSocket = Parameters<NonNullable<RequestHandlerDeps['access']>['onLetIn']>[0];
