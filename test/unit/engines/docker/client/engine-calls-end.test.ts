import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { dockerAccess } from '../../../../../src/engines/docker/access/docker-access.ts';
import type { EngineClient } from '../../../../../src/engines/docker/client/engine-client.ts';
import { dialects } from '../../../../../src/engines/docker/client/dialect.ts';
import { PrimaryGroups } from '../../../../../src/engines/docker/containers/primary-groups.ts';
import { deleteContainer } from '../../../../../src/engines/docker/containers/remove-container.ts';
import { EngineLogFiles } from '../../../../../src/engines/docker/logs/engine-log-files.ts';
import { engineDataDirectory } from '../../../../../src/engines/docker/observe/running-containers.ts';
import type { PodUid } from '../../../../../src/model/pod.ts';
import type { ContainerAccess } from '../../../../../src/ports/container-access.ts';
import type { ContainerId, ContainerRuntime, SandboxId } from '../../../../../src/ports/container-runtime.ts';
import type { ImageService } from '../../../../../src/ports/image-service.ts';
import { aContainer, aPod } from '../../../../builders/a-pod.ts';
import { FakeClock } from '../../../../fakes/fake-clock.ts';
import { type Stall, stallingEngine, stalls } from '../../../../fakes/stalling-engine.ts';
import { aDockerRuntime, anEngineClient, dockerImages } from '../../../../builders/docker-parts.ts';

interface World {
  readonly client: EngineClient;
  readonly clock: FakeClock;
  readonly runtime: ContainerRuntime;
  readonly images: ImageService;
  readonly access: ContainerAccess;
}

interface Caller {
  readonly request: RegExp;
  /** Its answer has no end of its own: the deadline is for its beginning. */
  readonly endless?: true;
  /** Of its own. */
  readonly deadlineMs?: number;
  /** Asked for all who wait: no signal ends it. */
  readonly shared?: true;
  readonly run: (world: World, signal: AbortSignal) => Promise<unknown>;
}

const ID = 'f'.repeat(64);
const limited = aPod('pod', { containers: [aContainer('c', { resources: { limits: { cpu: '1', memory: '1Gi' } } })] });
const outputs = { stdin: false, stdout: true, stderr: true, tty: false };

/** Who makes each request of the agent to its engine, by the words that the request has in errors. */
const callers: Readonly<Record<string, Caller>> = {
  'GET /version': { request: /^GET \/version/, run: ({ runtime }, signal) => runtime.info(signal) },
  'GET /info': { request: /^GET \/info/, run: ({ client }, signal) => engineDataDirectory(client, signal) },
  'GET /info for log files': {
    request: /^GET \/info/,
    shared: true,
    run: ({ client, clock }) => new EngineLogFiles(client, clock).locate(),
  },
  'GET /containers/json': { request: /^GET \/containers\/json/, run: ({ runtime }, signal) => runtime.listPods(signal) },
  'GET /containers/ID/json': {
    request: /^GET \/containers\/\w{64}\/json/,
    run: ({ runtime }, signal) => runtime.observePod('uid' as PodUid, signal),
  },
  'GET /images/ID/json': { request: /^GET \/images\/busybox\/json/, run: ({ images }, signal) => images.inspectImage('busybox', signal) },
  'GET /images/json': { request: /^GET \/images\/json/, run: ({ images }, signal) => images.listImages(signal) },
  'DELETE /images/ID': { request: /^DELETE /, run: ({ images }, signal) => images.removeImage(ID, signal) },
  'GET /containers/json for images': { request: /^GET \/containers\/json/, run: ({ images }, signal) => images.imagesInUse(signal) },
  'POST /images/create': {
    request: /^POST \/images\/create/,
    run: ({ images }, signal) => images.pullImage('busybox', undefined, () => {}, signal),
  },
  'POST /containers/create': {
    request: /^POST \/containers\/create/,
    run: ({ runtime }, signal) => runtime.runSandbox(aPod('pod'), { attempt: 0, hostname: 'pod' }, signal),
  },
  'POST /containers/ID/start': {
    request: /^POST \/containers\/\w+\/start/,
    run: ({ runtime }, signal) => runtime.runSandbox(aPod('pod'), { attempt: 0, hostname: 'pod' }, signal),
  },
  'POST /containers/ID/stop': {
    request: /^POST \/containers\/\w+\/stop/,
    run: ({ runtime }, signal) => runtime.stopContainer(ID as ContainerId, 0, signal),
  },
  'GET /containers/ID/stats': {
    request: /^GET \/containers\/\w+\/stats/,
    run: ({ runtime }, signal) =>
      runtime.updateContainer(ID as ContainerId, limited, limited.spec.containers[0] ?? { name: '' }, 'memory', signal),
  },
  'POST /containers/ID/update': {
    request: /^POST \/containers\/\w+\/update/,
    run: ({ runtime }, signal) =>
      runtime.updateContainer(ID as ContainerId, limited, limited.spec.containers[0] ?? { name: '' }, 'cpu', signal),
  },
  'DELETE /containers/ID': { request: /^DELETE /, run: ({ runtime }, signal) => runtime.removeSandbox(ID as SandboxId, signal) },
  'POST /containers/ID/kill': {
    request: /^POST \/containers\/\w+\/kill/,
    run: ({ client }, signal) => deleteContainer({ ...client, dialect: async () => dialects.podman }, ID, signal),
  },
  'POST /containers/ID/wait': {
    request: /^POST \/containers\/\w+\/wait/,
    run: ({ runtime }, signal) => runtime.removeContainer(ID as ContainerId, signal),
  },
  'GET /containers/ID/logs': {
    request: /^GET \/containers\/\w+\/logs/,
    endless: true,
    run: async ({ access }, signal) => {
      for await (const piece of access.logs(ID as ContainerId, { follow: true, timestamps: false }, signal)) assert.ok(piece);
    },
  },
  'POST /containers/ID/exec': {
    request: /^POST \/containers\/\w+\/exec/,
    run: ({ access }, signal) => access.exec(ID as ContainerId, ['sh'], outputs, signal),
  },
  'GET /containers/ID/archive': {
    request: /^GET \/containers\/\w+\/archive/,
    run: ({ client }, signal) => new PrimaryGroups(client).of('app', 'nobody', (read) => read(ID), signal),
  },
  'GET /containers/ID/export': {
    request: /^GET \/containers\/\w+\/export/,
    // Until the engine has taken what has come of it.
    endless: true,
    run: ({ images }, signal) => images.exportImage('busybox', '/tmp', 1000, signal),
  },
  'PUT /containers/ID/archive': {
    request: /^PUT \/containers\/\w+\/archive/,
    deadlineMs: 300_000,
    run: ({ images }, signal) => images.exportImage('busybox', '/tmp', 1000, signal),
  },
  'POST /exec/ID/start': {
    request: /^POST \/exec\/\w+\/start/,
    run: ({ access }, signal) => access.exec(ID as ContainerId, ['sh'], outputs, signal),
  },
  'POST /exec/ID/resize': {
    request: /^POST \/exec\/\w+\/resize/,
    run: async ({ access }, signal) => {
      const session = await access.exec(ID as ContainerId, ['sh'], { ...outputs, tty: true }, signal);
      await session.resize({ width: 80, height: 24 });
    },
  },
  'GET /exec/ID/json': {
    request: /^GET \/exec\/\w+\/json/,
    run: async ({ access }, signal) => {
      const { ended } = await access.exec(ID as ContainerId, ['sh'], outputs, signal);
      await ended;
    },
  },
  'POST /containers/ID/attach': {
    request: /^POST \/containers\/\w+\/attach/,
    run: ({ access }, signal) => access.attach(ID as ContainerId, outputs, signal),
  },
  'POST /containers/ID/resize': {
    request: /^POST \/containers\/\w+\/resize/,
    run: async ({ access }, signal) => {
      const session = await access.attach(ID as ContainerId, { ...outputs, tty: true }, signal);
      await session.resize({ width: 80, height: 24 });
    },
  },
  'GET /events': {
    request: /^GET \/events/,
    endless: true,
    run: ({ runtime }, signal) =>
      new Promise<void>((resolve) => {
        const hints = runtime.hints.subscribe();
        signal.addEventListener('abort', () => {
          hints.unsubscribe();
          resolve();
        });
      }),
  },
};

/** In all, for each way of stalling and of ending: shared by the callers. */
const CALLS = 1000;
const each = Math.ceil(CALLS / Object.keys(callers).length);

describe('a call to the engine ends its socket with its own end', () => {
  for (const stall of stalls)
    for (const end of ['deadline', 'signal'] as const)
      test(`the engine answers with ${stall}, the ${end} ends the call: 1,000 calls leave no socket, no descriptor and no promise`, async () => {
        const before = openDescriptors();
        const left: Record<string, number> = {};
        for (const [name, caller] of Object.entries(callers)) {
          if (end === 'signal' && caller.shared) continue;
          const { sockets, promises } = await stalledCalls(caller, stall, end);
          if (sockets > 0) left[`${name}, sockets`] = sockets;
          if (promises > 0) left[`${name}, promises`] = promises;
        }
        assert.deepEqual(left, {});
        await turnsUntil(() => openDescriptors() <= before);
        assert.ok(openDescriptors() <= before, `descriptors: ${before} before, ${openDescriptors()} after`);
      });

  test('each request that the agent can make is among them', () => {
    const directory = join(import.meta.dirname, '../../../../../src/engines/docker');
    const files = readdirSync(directory, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.ts'));
    const made = files.flatMap((file) => {
      const source = readFileSync(join(directory, file), 'utf8');
      const sites = source.match(/(client|engine)\.(call|open)\b/g) ?? [];
      const named = [...source.matchAll(/(?:client|engine)\.(?:call|open)(?:<[^(]*>)?\(\s*[`']([^`']*)[`']/g)].map(([, what = '']) => what);
      assert.equal(named.length, sites.length, `${file}: each call names its request in place`);
      const asked = [...source.matchAll(/client\.about\(\s*'(\w+)'/g)].map(([, question = '']) => `GET /${question}`);
      return [...named, ...asked].map((what) => what.replace(/\$\{.*?\}/g, 'ID').replace(/\?.*/, ''));
    });
    const tried = Object.keys(callers).map((name) => name.replace(/ for .*/, ''));
    assert.deepEqual([...new Set(made)].toSorted(), [...new Set(tried)].toSorted());
  });
});

/** What calls leave behind that were all under way when their engine stalled. */
async function stalledCalls(caller: Caller, stall: Stall, end: 'deadline' | 'signal'): Promise<{ sockets: number; promises: number }> {
  const engine = await stallingEngine(caller.request, stall);
  const clock = new FakeClock();
  const unsettled = new Set<Promise<unknown>>();
  const client = recording(anEngineClient(engine.endpoint, clock), unsettled);
  const access = dockerAccess({ client, clock });
  try {
    const runtime = aDockerRuntime(client, clock);
    const world = { client, clock, runtime, images: dockerImages(client, clock), access };
    const stop = new AbortController();
    const runs = Array.from({ length: each }, () => caller.run(world, stop.signal));
    const settled = Promise.allSettled(runs);
    if (!(await turnsUntil(() => engine.letDown() === each)))
      assert.fail(`${caller.request}: ${engine.letDown()} of ${each} requests came`);
    // An endless answer that has begun has no deadline any more.
    if (end === 'deadline') await clock.advance(caller.deadlineMs ?? client.requestTimeoutMs);
    const ended = end === 'deadline' && !(caller.endless && stall !== 'nothing');
    if (!ended || caller.endless) stop.abort();
    await settled;
    await turnsUntil(() => engine.waiting() === 0 && unsettled.size === 0);
    return { sockets: engine.waiting(), promises: unsettled.size };
  } finally {
    access.close();
    client.close();
    await engine.close();
  }
}

/** The same client; what was asked of the engine and is not settled is in `unsettled`. */
function recording(client: EngineClient, unsettled: Set<Promise<unknown>>): EngineClient {
  const record =
    <A extends readonly unknown[], T>(request: (...args: A) => Promise<T>) =>
    (...args: A): Promise<T> => {
      const answer = request(...args);
      unsettled.add(answer);
      const done = (): void => void unsettled.delete(answer);
      answer.catch(() => {}).finally(done);
      return answer;
    };
  return {
    ...client,
    call: (what, deadlineMs, signal, request) => client.call(what, deadlineMs, signal, record(request)),
    open: (what, deadlineMs, signal, request) => client.open(what, deadlineMs, signal, record(request)),
  };
}

const openDescriptors = (): number => readdirSync('/proc/self/fd').length;

/** Turns of the event loop until `done`, or very many. */
async function turnsUntil(done: () => boolean): Promise<boolean> {
  for (let turn = 0; turn < 5000 && !done(); turn++) await new Promise((resolve) => setImmediate(resolve));
  return done();
}
