import { Session } from 'node:inspector/promises';
import { getHeapSnapshot } from 'node:v8';
import type { Clock } from '../../base/clock.ts';
import { parseStreamLevels } from '../../base/verbosity.ts';
import type { VerbosityControl } from '../../ports/verbosity-control.ts';
import { HttpError, type Route, type RouteRequest } from '../../ports/route.ts';
import { beginStream, readBody, sendText, writeTo } from '../../ports/answer.ts';

export interface DebugDeps {
  readonly clock: Pick<Clock, 'sleep'>;
  /** How much is logged from now on. */
  readonly verbosity: VerbosityControl;
}

const DEFAULT_SECONDS = 30;
const MAX_SECONDS = 600;
const INT32 = 2 ** 31;

type Handle = NonNullable<Route['handle']>;

const index = `<html>
<head><title>/debug/pprof/</title></head>
<body>
<h1>/debug/pprof/</h1>
<ul>
<li><a href="profile">profile</a>: CPU profile of ?seconds=${DEFAULT_SECONDS}; save it as .cpuprofile and open it in Chromium's or VS Code's profiler</li>
<li><a href="heap">heap</a>: everything in the agent's memory, secrets included; save it as .heapsnapshot and open it in Chromium's profiler</li>
</ul>
</body>
</html>
`;

/** /debug/pprof/, with V8's profiles where the kubelet has Go's, and /debug/flags/v and vmodule. */
export function debugRoutes(deps: DebugDeps): readonly Route[] {
  const profile = cpuProfiler(deps.clock);
  return [
    {
      methods: ['GET'],
      path: '/debug/pprof/',
      debugging: true,
      handle: async (_request, response) => sendText(response, index, { type: 'text/html; charset=utf-8' }),
    },
    {
      methods: ['GET'],
      path: '/debug/pprof/profile',
      debugging: true,
      handle: async (request, response) => {
        const text = await profile(seconds(request.query), request.signal);
        response.setHeader('Content-Disposition', 'attachment; filename="rxlet.cpuprofile"');
        sendText(response, text, { type: 'application/json' });
      },
    },
    { methods: ['GET'], path: '/debug/pprof/heap', debugging: true, handle: sendHeap },
    flagRoute('/debug/flags/v', 'verbosity', (text) => {
      const level = /^[+-]?\d{1,10}$/.test(text) ? Number(text) : Number.NaN;
      if (!(level >= -INT32 && level < INT32)) return `parsing ${JSON.stringify(text)}: invalid syntax`;
      deps.verbosity.set(level);
      return undefined;
    }),
    flagRoute('/debug/flags/vmodule', 'vmodule', (text) => {
      const streams = parseStreamLevels(text);
      if (streams === undefined) return 'expected pairs such as reconcile=5,lease=2';
      deps.verbosity.setStreams(streams);
      return undefined;
    }),
  ];
}

/** `set` says what is wrong with the text; undefined: it has effect now. */
const flagRoute = (path: string, name: string, set: (text: string) => string | undefined): Route => ({
  methods: ['GET', 'POST', 'PUT'],
  path,
  debugging: true,
  handle: async ({ message }, response) => {
    if (message.method !== 'PUT') throw new HttpError(406, 'unsupported http method');
    const text = await readBody(message);
    const fault = set(text);
    if (fault !== undefined) throw new HttpError(400, `failed set klog.logging.${name} ${text}: ${fault}`);
    sendText(response, `successfully set klog.logging.${name} to ${text}`);
  },
});

/** One profile at a time: V8 has one profiler. */
function cpuProfiler(clock: Pick<Clock, 'sleep'>): (lengthSeconds: number, signal: AbortSignal) => Promise<string> {
  let running = false;
  return async (lengthSeconds, signal) => {
    if (running) throw new HttpError(500, 'Could not enable CPU profiling: cpu profiling already in use\n');
    running = true;
    const session = new Session();
    try {
      session.connect();
      await session.post('Profiler.enable');
      await session.post('Profiler.start');
      await clock.sleep(lengthSeconds * 1000, signal);
      const { profile } = await session.post('Profiler.stop');
      return JSON.stringify(profile);
    } finally {
      session.disconnect();
      running = false;
    }
  };
}

/** Nonsense is the default, as in Go's net/http/pprof. */
function seconds(query: URLSearchParams): number {
  const asked = Number(query.get('seconds') ?? '');
  if (!(asked > 0)) return DEFAULT_SECONDS;
  if (asked > MAX_SECONDS) throw new HttpError(400, `profile duration exceeds ${MAX_SECONDS} seconds\n`);
  return asked;
}

/** The agent stands still while V8 writes its memory down. */
const sendHeap: Handle = async ({ signal }: RouteRequest, response) => {
  const snapshot = getHeapSnapshot();
  try {
    response.setHeader('Content-Disposition', 'attachment; filename="rxlet.heapsnapshot"');
    beginStream(response, 'application/json');
    for await (const piece of snapshot) if (!(await writeTo(response, Buffer.from(piece), signal))) return;
    response.end();
  } finally {
    snapshot.destroy();
  }
};
