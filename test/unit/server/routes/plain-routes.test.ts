import assert from 'node:assert/strict';
import { PassThrough, Readable } from 'node:stream';
import { afterEach, test } from 'node:test';
import type { Route } from '../../../../src/server/route.ts';
import { checkpointRoutes } from '../../../../src/server/routes/checkpoint-routes.ts';
import { configRoutes } from '../../../../src/server/routes/config-routes.ts';
import { debugRoutes } from '../../../../src/server/routes/debug-routes.ts';
import { type HealthCheck, healthRoutes } from '../../../../src/server/routes/health-routes.ts';
import { metricsRoutes } from '../../../../src/server/routes/metrics-routes.ts';
import { runRoutes } from '../../../../src/server/routes/run-routes.ts';
import { statsRoutes } from '../../../../src/server/routes/stats-routes.ts';
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
  await serve(healthRoutes({ health: () => checks }));
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
  assert.deepEqual(await ask('/healthz?exclude=syncloop'), [200, plain, 'ok']);
  assert.deepEqual(await ask('/healthz?verbose&exclude=syncloop&exclude=b&exclude=a'), [
    200,
    plain,
    '[+]ping ok\n[+]log ok\n[+]syncloop excluded: ok\nwarn: some health checks cannot be excluded: no matches for "a","b"\nhealthz check passed\n',
  ]);
});

test('/metrics and its relatives are told apart', async () => {
  const page = (name: string) => async () => `${name} 1\n`;
  await serve(metricsRoutes({ kubelet: page('k'), cadvisor: page('c'), resource: page('r'), probes: page('p') }));
  const type = 'text/plain; version=0.0.4; charset=utf-8';
  assert.deepEqual(await ask('/metrics'), [200, type, 'k 1\n']);
  assert.deepEqual(await ask('/metrics/cadvisor'), [200, type, 'c 1\n']);
  assert.deepEqual(await ask('/metrics/resource'), [200, type, 'r 1\n']);
  assert.deepEqual(await ask('/metrics/probes'), [200, type, 'p 1\n']);
});

test('/stats/summary, whole or with CPU and memory alone', async () => {
  await serve(statsRoutes({ summary: async (only) => ({ only }) }));
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
    statsRoutes({
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

test('/checkpoint is not supported', async () => {
  await serve(checkpointRoutes());
  assert.equal((await ask('/checkpoint/default/web/app', { method: 'POST' }))[0], 404);
});

test('/debug/flags/v sets how much is logged', async () => {
  const levels: number[] = [];
  await serve(debugRoutes({ clock: new FakeClock(), setVerbosity: (level) => levels.push(level) }));
  const put = (body: string): ReturnType<typeof ask> => ask('/debug/flags/v', { method: 'PUT', body });
  assert.deepEqual(await put('4'), [200, plain, 'successfully set klog.logging.verbosity to 4']);
  assert.deepEqual(await put('x'), [400, plain, 'failed set klog.logging.verbosity x: parsing "x": invalid syntax']);
  assert.equal((await put('99999999999'))[0], 400);
  assert.deepEqual(await ask('/debug/flags/v'), [406, plain, 'unsupported http method']);
  assert.deepEqual(levels, [4]);
});

test('a CPU profile is what was done in the time asked for, one at a time', async () => {
  const clock = new FakeClock();
  await serve(debugRoutes({ clock, setVerbosity: () => {} }));
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
  await serve(debugRoutes({ clock: new FakeClock(), setVerbosity: () => {} }));
  const [status, , text] = await ask('/debug/pprof/heap');
  assert.equal(status, 200);
  assert(text.startsWith('{"snapshot":'));
  assert(text.trimEnd().endsWith('}'));
});

test('the index names the profiles', async () => {
  const deps = { clock: new FakeClock(), setVerbosity: () => {} };
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
