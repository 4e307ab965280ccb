import type { Duplex } from 'node:stream';
import { podFullName } from '../../model/pod.ts';
import { HttpError, type Route, type RouteRequest } from '../../ports/route.ts';
import { execQuery } from '../streaming/exec-query.ts';
import { type LimitedDial, limitedDial } from '../streaming/limited-dial.ts';
import type { PortForwardDeps } from '../streaming/port-forward-deps.ts';
import type { StreamingDeps } from '../streaming/remote-streams.ts';
import type { RemoteCommandDeps } from '../streaming/serve-remote-command.ts';
import { containerSpec, findPod, networkSandbox, runningContainer, type ServedPods } from './served-pods.ts';

/** Speaks with the client over the connection that it wants to go on with, until both are done. */
type Serve<Options> = (request: RouteRequest, socket: Duplex, head: Buffer, options: Options) => Promise<void>;

export interface ExecDeps extends StreamingDeps {
  readonly served: Pick<ServedPods, 'pods' | 'runtime' | 'access' | 'mirrorUidOf'>;
  readonly serveExec: Serve<RemoteCommandDeps>;
  readonly serveAttach: Serve<RemoteCommandDeps>;
  readonly servePortForward: Serve<PortForwardDeps>;
  /** The most connections to ports of pods at a time, of all clients together. */
  readonly mostForwarded: number;
}

/** Everything is looked up before the connection is switched, so that a refusal has a status and its words. */
type Prepare = (request: RouteRequest) => Promise<(socket: Duplex, head: Buffer) => Promise<void>>;

const container = ['{namespace}/{pod}/{container}', '{namespace}/{pod}/{uid}/{container}'];
const pod = ['{namespace}/{pod}', '{namespace}/{pod}/{uid}'];

/** /exec, /attach and /portForward (pkg/kubelet/server getExec, getAttach, getPortForward), over SPDY or a WebSocket. */
export function execRoutes(deps: ExecDeps): readonly Route[] {
  const limited = limitedDial(deps.mostForwarded);
  return [
    ...container.map((below) => streamRoute(`/exec/${below}`, (request) => prepareExec(deps, request))),
    ...container.map((below) => streamRoute(`/attach/${below}`, (request) => prepareAttach(deps, request))),
    ...pod.map((below) => streamRoute(`/portForward/${below}`, (request) => preparePortForward(deps, limited, request))),
  ];
}

function streamRoute(path: string, prepare: Prepare): Route {
  return {
    methods: ['GET', 'POST'],
    path,
    debugging: true,
    handle: async (request) => {
      await prepare(request);
      // The kubelet's words. It says 500, though the fault is the client's.
      throw new HttpError(400, 'Upgrade request required\n');
    },
    upgrade: async (request, socket, head) => {
      const serve = await prepare(request);
      await serve(socket, head);
    },
  };
}

async function prepareExec(deps: ExecDeps, request: RouteRequest): ReturnType<Prepare> {
  const { command } = execQuery(request.query);
  const { served } = deps;
  const { container: name = '' } = request.params;
  const id = await runningContainer(served, findPod(served, request.params), name, request.signal);
  if (id === undefined) throw new HttpError(500, `container not found (${JSON.stringify(name)})`);
  return (socket, head) =>
    deps.serveExec(request, socket, head, { ...times(deps), open: (wanted, signal) => served.access.exec(id, command, wanted, signal) });
}

async function prepareAttach(deps: ExecDeps, request: RouteRequest): ReturnType<Prepare> {
  execQuery(request.query);
  const { served } = deps;
  const { container: name = '' } = request.params;
  const found = findPod(served, request.params);
  const spec = containerSpec(found, name);
  const id = spec && (await runningContainer(served, found, name, request.signal));
  if (id === undefined) throw new HttpError(500, `container ${name} not found in pod ${podFullName(found)}`);
  // Whether there is a terminal was settled when the container was made; with one there is no standard error.
  const tty = spec?.tty === true;
  return (socket, head) =>
    deps.serveAttach(request, socket, head, {
      ...times(deps),
      open: (wanted, signal) => served.access.attach(id, { ...wanted, stderr: wanted.stderr && !tty, tty }, signal),
    });
}

async function preparePortForward(deps: ExecDeps, limited: LimitedDial, request: RouteRequest): ReturnType<Prepare> {
  const { served } = deps;
  const found = findPod(served, request.params);
  const sandbox = networkSandbox(await served.runtime.observePod(found.metadata.uid, request.signal));
  if (sandbox === undefined) throw new HttpError(500, `pod not found (${JSON.stringify(podFullName(found))})`);
  return (socket, head) =>
    deps.servePortForward(request, socket, head, {
      ...times(deps),
      pod: sandbox,
      dial: (port, signal) => limited(() => served.access.dial(sandbox, port, signal)),
    });
}

const times = ({ idleTimeoutMs, streamCreationTimeoutMs, clock, log }: ExecDeps): StreamingDeps => ({
  idleTimeoutMs,
  streamCreationTimeoutMs,
  clock,
  log,
});
