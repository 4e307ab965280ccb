import { Verbosity } from '../../../../src/base/verbosity.ts';
import assert from 'node:assert/strict';
import { mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough, Readable } from 'node:stream';
import { afterEach, test } from 'node:test';
import type { HealthChecked } from '../../../../src/ports/happenings.ts';
import { metricPage } from '../../../../src/ports/metric-text.ts';
import type { HealthCheck } from '../../../../src/ports/node-participant.ts';
import type { Route } from '../../../../src/ports/route.ts';
import { checkpointRoutes } from '../../../../src/server/routes/checkpoint-routes.ts';
import { configRoutes } from '../../../../src/server/routes/config-routes.ts';
import { debugRoutes } from '../../../../src/server/routes/debug-routes.ts';
import { healthRoutes } from '../../../../src/server/routes/health-routes.ts';
import { runRoutes } from '../../../../src/server/routes/run-routes.ts';
import { zPageRoutes } from '../../../../src/server/routes/z-page-routes.ts';
import { summaryRoutes } from '../../../../src/stats/summary-routes.ts';
import { aPod } from '../../../builders/a-pod.ts';
import { aSandbox, anInstance, anObservedPod } from '../../../builders/an-observed-pod.ts';
import { aSession, servedPods } from '../../../builders/served-pods.ts';
import { FakeClock } from '../../../fakes/fake-clock.ts';
import { serveRoutes, type ServedRoutes } from '../../../fakes/served-routes.ts';

let served: ServedRoutes | undefined;
afterEach(async () => {
  await served?.close();
  served = undefined;
});

const serve = async (routes: readonly Route[]): Promise<void> => {
  served = await serveRoutes(routes);
};
async function ask(path: string, init: RequestInit = {}): Promise<readonly [status: number, type: string | null, text: string]> {
  const answer = await fetch(`${served?.url}${path}`, init);
  return [answer.status, answer.headers.get('content-type'), await answer.text()];
}
const plain = 'text/plain; charset=utf-8';

test('/healthz says ok, and which check fails but not why', async () => {
  const checks: HealthCheck[] = [{ name: 'syncloop' }];
  const told: HealthChecked[] = [];
  await serve(healthRoutes({ health: () => checks, tell: { healthChecked: (what) => told.push(what) } }));
  for (const path of ['/healthz', '/healthz/ping', '/healthz/log', '/healthz/syncloop'])
    assert.deepEqual(await ask(path), [200, plain, 'ok'], path);
  assert.deepEqual(await ask('/healthz?verbose'), [200, plain, '[+]ping ok\n[+]log ok\n[+]syncloop ok\nhealthz check passed\n']);
  assert.equal((await ask('/healthz/nothing'))[0], 404);

  checks[0] = { name: 'syncloop', note: 'it is late' };
  assert.deepEqual(await ask('/healthz'), [200, plain, 'ok']);
  assert.deepEqual(await ask('/healthz/syncloop'), [200, plain, 'ok: it is late']);
  assert.deepEqual(await ask('/healthz?verbose'), [
    200,
    plain,
    '[+]ping ok\n[+]log ok\n[+]syncloop ok: it is late\nhealthz check passed\n',
  ]);
  checks[0] = { name: 'syncloop', error: 'sync Loop took longer than expected' };
  assert.deepEqual(await ask('/healthz'), [
    500,
    plain,
    '[+]ping ok\n[+]log ok\n[-]syncloop failed: reason withheld\nhealthz check failed\n',
  ]);
  assert.deepEqual(await ask('/healthz/syncloop'), [500, plain, 'internal server error: sync Loop took longer than expected\n']);
  told.length = 0;
  assert.deepEqual(await ask('/healthz?exclude=syncloop'), [200, plain, 'ok']);
  await ask('/healthz/syncloop');
  assert.deepEqual(told, [
    { check: 'ping', failed: false },
    { check: 'log', failed: false },
    { check: 'syncloop', failed: true },
  ]);
  assert.deepEqual(await ask('/healthz?verbose&exclude=syncloop&exclude=b&exclude=a'), [
    200,
    plain,
    '[+]ping ok\n[+]log ok\n[+]syncloop excluded: ok\nwarn: some health checks cannot be excluded: no matches for "a","b"\nhealthz check passed\n',
  ]);
});

test('a page of metrics is all of its texts, in their order', async () => {
  const slow = async (): Promise<string> => {
    await new Promise((resolve) => setImmediate(resolve));
    return 'a 1\n';
  };
  const fails = async (): Promise<string> => {
    throw new Error('it is not\nthere');
  };
  await serve([
    metricPage('/metrics', slow, async () => 'b 1\n'),
    metricPage('/metrics/probes'),
    metricPage('/metrics/broken', slow, fails, async () => 'b 1\n'),
  ]);
  const type = 'text/plain; version=0.0.4; charset=utf-8';
  assert.deepEqual(await ask('/metrics'), [200, type, 'a 1\nb 1\n']);
  assert.deepEqual(await ask('/metrics/probes'), [200, type, '']);
  assert.deepEqual(await ask('/metrics/broken'), [200, type, 'a 1\n# a part of these metrics is missing: it is not?there\nb 1\n']);
});

test('/stats/summary, whole or with CPU and memory alone', async () => {
  await serve(summaryRoutes({ summary: async (only) => ({ only }) }));
  const form = { method: 'POST', body: new URLSearchParams({ only_cpu_and_memory: 'true' }) };
  for (const [path, init, only] of [
    ['/stats/summary', {}, false],
    ['/stats/summary?only_cpu_and_memory=true', {}, true],
    ['/stats/summary?only_cpu_and_memory=1', {}, false],
    ['/stats/summary?only_cpu_and_memory=true&only_cpu_and_memory=true', {}, false],
    ['/stats/summary', { method: 'POST', body: '{}' }, false],
    ['/stats/summary', form, true],
  ] as const) {
    assert.deepEqual(await ask(path, init), [200, 'application/json', JSON.stringify({ only })], path);
  }
  for (const path of ['/stats', '/stats/container', '/stats/web/app']) assert.equal((await ask(path))[0], 404, path);
  assert.equal((await ask('/stats/summary', { ...form, body: new URLSearchParams({ a: 'x'.repeat(100_000) }) }))[0], 413);
});

test('stats that cannot be had are a 500 that says why', async () => {
  await serve(
    summaryRoutes({
      summary: async () => {
        throw new Error('no cgroups', { cause: new Error('ENOENT') });
      },
    }),
  );
  assert.deepEqual(await ask('/stats/summary'), [500, plain, 'Internal Error: no cgroups: ENOENT']);
});

test('/configz shows the configuration and is kept by nobody', async () => {
  await serve(configRoutes({ config: () => ({ syncFrequency: '1m0s' }) }));
  const answer = await fetch(`${served?.url}/configz`);
  assert.equal(answer.headers.get('cache-control'), 'no-cache, no-store, must-revalidate');
  assert.deepEqual(await answer.json(), { kubeletconfig: { syncFrequency: '1m0s' } });
});

test('/checkpoint says that the engine has none, of containers that there are', async () => {
  await serve(checkpointRoutes({ served: servedPods([aPod('web')]), rootDir: '/nonexistent', clock: new FakeClock() }));
  const post = (path: string): ReturnType<typeof ask> => ask(`/checkpoint/default/${path}`, { method: 'POST' });
  const [status, , text] = await post('web/app?timeout=5');
  assert.deepEqual(
    [status, text],
    [500, 'checkpointing of default/web/app failed (rpc error: code = Unimplemented desc = method CheckpointContainer not implemented)'],
  );
  assert.deepEqual((await post('none/app')).toSpliced(1, 1), [404, 'pod does not exist']);
  assert.deepEqual((await post('web/none')).toSpliced(1, 1), [404, 'container none does not exist']);
  assert.deepEqual((await post('web/app?timeout=x')).toSpliced(1, 1), [404, 'cannot parse value of timeout parameter']);
});

test('/checkpoint has the engine write an archive for root alone, and names it', async (t) => {
  const rootDir = await mkdtemp(join(tmpdir(), 'rxlet-checkpoints-'));
  t.after(() => rm(rootDir, { recursive: true }));
  const pod = aPod('web');
  const asked: unknown[] = [];
  let broken = false;
  const access = {
    checkpoint: async (id: string, file: string, timeoutMs: number) => {
      if (broken) throw new Error('rpc error: code = Internal desc = criu failed');
      asked.push([id, file, timeoutMs]);
    },
  };
  const observed = [anObservedPod(pod, { containers: [anInstance(pod, 'app')] })];
  const clock = new FakeClock();
  clock.moveDate(Date.UTC(2026, 0, 2, 3, 4, 5, 600));
  await serve(checkpointRoutes({ served: servedPods([pod, aPod('ended')], { observed, access }), rootDir, clock }));
  const post = (path: string): ReturnType<typeof ask> => ask(`/checkpoint/default/${path}`, { method: 'POST' });
  const file = join(rootDir, 'checkpoints/checkpoint-web_default-app-2026-01-02T03:04:05Z.tar');
  assert.deepEqual(await post('web/app'), [200, 'application/json', JSON.stringify({ items: [file] })]);
  assert.equal((await stat(join(rootDir, 'checkpoints'))).mode & 0o777, 0o700);
  for (const seconds of ['-1', '7', '999999999999999999']) await post(`web/app?timeout=1&timeout=${seconds}`);
  assert.deepEqual(
    asked,
    [0, 0, 7_000, 86_400_000].map((timeoutMs) => ['app-0', file, timeoutMs]),
  );
  assert.deepEqual((await post('ended/app')).toSpliced(1, 1), [500, 'checkpointing of default/ended/app failed (container app not found)']);
  broken = true;
  assert.match((await post('web/app'))[2], /^checkpointing of default\/web\/app failed \(rpc error: code = Internal desc = criu failed\)$/);
});

test('/statusz and /flagz are text for people, and nothing else', async () => {
  await serve(
    zPageRoutes({
      status: {
        clock: { now: () => Date.UTC(2026, 0, 2, 3, 4, 5) },
        uptimeSeconds: () => 3725.9,
        version: '1.36.2',
        runtime: 'node v24.0.0',
        paths: () => ['/pods', '/metrics', '/metrics/slis'],
      },
      flags: () =>
        new Map([
          ['v', '2'],
          ['address', '0.0.0.0'],
        ]),
    }),
  );
  const head =
    'Warning: This endpoint is not meant to be machine parseable, has no formatting compatibility guarantees and is for debugging purposes only.\n\n';
  const status =
    'Started: Fri Jan  2 02:02:00 UTC 2026\nUp: 1 hr 02 min 05 sec\nGo version: node v24.0.0\nBinary version: 1.36.2\nPaths: /metrics /pods\n';
  assert.deepEqual(await ask('/statusz'), [200, plain, `\nkubelet statusz\n${head}${status}`]);
  assert.deepEqual(await ask('/flagz'), [200, plain, `\nkubelet flags\n${head}address=0.0.0.0\nv=2\n`]);
  for (const [accept, expected] of [
    ['', 200],
    ['text/plain; charset=UTF-8; q=0.5', 200],
    ['application/json, text/*', 200],
    ['application/json', 406],
    ['text/plain; charset=latin1', 406],
  ] as const)
    assert.equal((await ask('/flagz', { headers: { accept } }))[0], expected, accept);
});

test('z-pages that are switched off are not there', async () => {
  await serve(zPageRoutes({ status: undefined, flags: undefined }));
  assert.deepEqual([(await ask('/statusz'))[0], (await ask('/flagz'))[0]], [404, 404]);
});

test('/debug/flags/v sets how much is logged, and vmodule how much of some streams', async () => {
  const verbosity = new Verbosity(0);
  await serve(debugRoutes({ clock: new FakeClock(), verbosity }));
  const put = (name: string, body: string): ReturnType<typeof ask> => ask(`/debug/flags/${name}`, { method: 'PUT', body });
  const levels = (): readonly number[] => ['reconcile', 'lease', 'probes'].map((stream) => verbosity.of(stream));
  assert.deepEqual(await put('v', '2'), [200, plain, 'successfully set klog.logging.verbosity to 2']);
  assert.deepEqual(await put('v', 'x'), [400, plain, 'failed set klog.logging.verbosity x: parsing "x": invalid syntax']);
  assert.equal((await put('v', '99999999999'))[0], 400);
  assert.deepEqual(await ask('/debug/flags/v'), [406, plain, 'unsupported http method']);
  assert.deepEqual(levels(), [2, 2, 2]);
  assert.deepEqual(await put('vmodule', 'reconcile=5,l*=1'), [200, plain, 'successfully set klog.logging.vmodule to reconcile=5,l*=1']);
  assert.deepEqual(levels(), [5, 2, 2]);
  assert.deepEqual(await put('vmodule', 'reconcile'), [
    400,
    plain,
    'failed set klog.logging.vmodule reconcile: expected pairs such as reconcile=5,lease=2',
  ]);
  assert.deepEqual(levels(), [5, 2, 2]);
  assert.equal((await put('vmodule', ''))[0], 200);
  assert.deepEqual(levels(), [2, 2, 2]);
});

test('a CPU profile is what was done in the time asked for, one at a time', async () => {
  const clock = new FakeClock();
  await serve(debugRoutes({ clock, verbosity: new Verbosity(0) }));
  const first = ask('/debug/pprof/profile?seconds=3');
  while (clock.actions.length === 0) await new Promise((resolve) => setImmediate(resolve));
  assert.deepEqual(await ask('/debug/pprof/profile'), [500, plain, 'Could not enable CPU profiling: cpu profiling already in use\n']);
  await clock.advance(3000);
  const [status, , text] = await first;
  assert.equal(status, 200);
  const profile: unknown = JSON.parse(text);
  assert(typeof profile === 'object' && profile !== null && 'nodes' in profile && 'samples' in profile);
  assert.equal((await ask('/debug/pprof/profile?seconds=100000'))[0], 400);
  assert.equal(clock.actions.length, 0);
});

test('a heap snapshot is streamed', async () => {
  await serve(debugRoutes({ clock: new FakeClock(), verbosity: new Verbosity(0) }));
  const [status, , text] = await ask('/debug/pprof/heap');
  assert.equal(status, 200);
  assert(text.startsWith('{"snapshot":'));
  assert(text.trimEnd().endsWith('}'));
});

test('the index names the profiles', async () => {
  const deps = { clock: new FakeClock(), verbosity: new Verbosity(0) };
  await serve(debugRoutes(deps));
  const [status, type, text] = await ask('/debug/pprof/');
  assert.deepEqual([status, type], [200, 'text/html; charset=utf-8']);
  assert.match(text, /href="profile".*href="heap"/s);
});

test('/run gives the output of a command that ended well', async () => {
  const web = aPod('web');
  const observed = [anObservedPod(web, { sandboxes: [aSandbox()], containers: [anInstance(web, 'app')] })];
  const commands: unknown[] = [];
  await serve(
    runRoutes({
      clock: new FakeClock(),
      served: servedPods([web], {
        observed,
        access: {
          exec: async (id, command) => {
            commands.push([id, command]);
            const stdout = new PassThrough();
            stdout.end('out\n');
            return aSession({
              stdout,
              stderr: Readable.from([Buffer.from('err\n')]),
              ended: Promise.resolve(command[0] === 'false' ? 1 : 0),
            });
          },
        },
      }),
    }),
  );
  const run = (path: string): ReturnType<typeof ask> => ask(path, { method: 'POST' });
  assert.deepEqual(await run('/run/default/web/app?cmd=ls%20-l%20%20x'), [200, 'application/json', 'out\nerr\n']);
  assert.deepEqual(await run('/run/default/web/uid-web/app?cmd=false'), [500, plain, "command 'false' exited with 1: out\nerr\n"]);
  assert.deepEqual(await run('/run/default/web/nothing?cmd=ls'), [500, plain, 'container not found ("nothing")']);
  assert.deepEqual(await run('/run/default/nobody/app?cmd=ls'), [404, plain, 'pod does not exist']);
  assert.equal((await ask('/run/default/web/app?cmd=ls'))[0], 405);
  assert.deepEqual(commands, [
    ['app-0', ['ls', '-l', '', 'x']],
    ['app-0', ['false']],
  ]);
});
