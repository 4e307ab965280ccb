import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { LogFields } from '../../../src/base/logger.ts';
import { away, type EndpointAnswer, wrong } from '../../../src/engines/asking/endpoint-answer.ts';
import { chooseEngine, type ChosenEngine } from '../../../src/engines/choose-engine.ts';
import type { DrivenEngine } from '../../../src/engines/driven-engine.ts';
import type { NamedEngine } from '../../../src/options/named-engine.ts';

const DOCKER = 'unix:///var/run/docker.sock';
const CONTAINERD = 'unix:///run/containerd/containerd.sock';
const docker: EndpointAnswer = { speaks: 'docker', name: 'docker', version: '28.5.2', apiVersion: '1.51' };
const podman: EndpointAnswer = { speaks: 'docker', name: 'podman', version: '5.8.6', apiVersion: '1.44' };
const containerd: EndpointAnswer = { speaks: 'cri', name: 'containerd', version: '2.1.9', apiVersion: 'v1' };
const gone = away('there is no such file', 'start the engine');
const garbage = wrong('it is a directory, no socket', 'name another');

const any = (endpoint: string): NamedEngine & { kind: 'any' } => ({ kind: 'any', endpoint, option: '--container-runtime-endpoint' });
const byDocker = (endpoint: string): NamedEngine & { kind: 'docker' } => ({ kind: 'docker', endpoint, option: '--docker-endpoint' });

interface Chosen {
  readonly chosen: ChosenEngine;
  readonly said: readonly string[];
  readonly slept: readonly number[];
  readonly saved: readonly DrivenEngine[];
}

/** `rounds`: what each endpoint answers at each look; the last round goes on. What is not named is gone. */
async function choose(
  named: Parameters<typeof chooseEngine>[0],
  rounds: readonly Readonly<Record<string, EndpointAnswer>>[],
  over: { readonly before?: DrivenEngine; readonly waits?: boolean; readonly stop?: AbortSignal } = {},
): Promise<Chosen> {
  const said: string[] = [];
  const slept: number[] = [];
  const saved: DrivenEngine[] = [];
  const log = (message: string, fields: LogFields = {}): void =>
    void said.push([message, ...Object.values(fields).map(String)].join(' | '));
  const chosen = await chooseEngine(
    named,
    {
      ask: async (endpoint) => rounds[Math.min(slept.length, rounds.length - 1)]?.[endpoint] ?? gone,
      usual: [
        { engine: 'Docker', endpoint: DOCKER },
        { engine: 'containerd', endpoint: CONTAINERD },
      ],
      driven: { load: () => over.before, save: async (engine) => void saved.push(engine) },
      clock: {
        sleep: async (ms, signal) => {
          slept.push(ms);
          signal?.throwIfAborted();
        },
      },
      log: { info: log, warn: log },
      waits: over.waits ?? true,
    },
    over.stop ?? new AbortController().signal,
  );
  return { chosen, said, slept, saved };
}

describe('the engine to be driven', () => {
  test('is what listens where one is named, whatever it speaks', async () => {
    const { chosen, said, saved } = await choose(any(CONTAINERD), [{ [CONTAINERD]: containerd, [DOCKER]: docker }]);
    const { speaks, name, version, because } = chosen;
    assert.deepEqual([speaks, name, version, because], ['cri', 'containerd', '2.1.9', 'named by --container-runtime-endpoint']);
    assert.deepEqual([said, saved], [[], [{ endpoint: CONTAINERD, speaks: 'cri', name: 'containerd' }]]);
  });

  test('is the first that answers where none is named, and says which were passed', async () => {
    const { chosen } = await choose({ kind: 'none' }, [{ [CONTAINERD]: containerd }]);
    assert.equal(chosen.endpoint, CONTAINERD);
    assert.equal(chosen.because, `none is named, and it is the first that answers, after Docker at ${DOCKER}: there is no such file`);
    assert.equal((await choose({ kind: 'none' }, [{ [DOCKER]: docker, [CONTAINERD]: containerd }])).chosen.endpoint, DOCKER);
  });

  test('is waited for with back-off, and what is in the way is said once for as long as it is that', async () => {
    const { chosen, said, slept } = await choose(any(CONTAINERD), [
      {},
      {},
      {},
      { [CONTAINERD]: garbage },
      {},
      {},
      { [CONTAINERD]: docker },
    ]);
    assert.equal(chosen.name, 'docker');
    assert.deepEqual(slept, [1000, 2000, 4000, 8000, 16_000, 30_000]);
    const line = (found: string, toDo: string): string =>
      `no engine answers there; looking again, no pod is touched | ${CONTAINERD} | ${found} | ${toDo}`;
    assert.deepEqual(said, [
      line('there is no such file', 'start the engine'),
      line('it is a directory, no socket', 'name another'),
      line('there is no such file', 'start the engine'),
    ]);
  });

  test('is waited for where none is named and none answers', async () => {
    const { chosen, said } = await choose({ kind: 'none' }, [{}, {}, { [DOCKER]: docker }]);
    assert.equal(chosen.endpoint, DOCKER);
    assert.equal(said.length, 1);
    assert.match(
      said[0] ?? '',
      /^no container engine answers; .* Docker at .*: there is no such file; containerd at .*: there is no such file \| start one/,
    );
  });

  test('of --docker-endpoint is driven before it answers, by the name of its socket', async () => {
    const { chosen, slept, said } = await choose(byDocker('unix:///x/docker.sock'), [{}]);
    assert.deepEqual([chosen.speaks, chosen.name, chosen.version], ['docker', 'docker', undefined]);
    assert.deepEqual(
      [slept, said],
      [[], ['the engine does not answer yet | unix:///x/docker.sock | there is no such file | start the engine']],
    );
    assert.equal((await choose(byDocker('unix:///run/podman/podman.sock'), [{}])).chosen.name, 'podman');
    assert.equal((await choose(byDocker('unix:///x/docker.sock'), [{ 'unix:///x/docker.sock': podman }])).chosen.name, 'podman');
  });

  test('of --docker-endpoint is waited for where something else listens', async () => {
    const { said, chosen } = await choose(byDocker(CONTAINERD), [
      { [CONTAINERD]: containerd },
      { [CONTAINERD]: garbage },
      { [CONTAINERD]: docker },
    ]);
    assert.equal(chosen.name, 'docker');
    assert.match(
      said[0] ?? '',
      /^what listens there is no Docker engine; .*it is containerd 2\.1\.9, by CRI \| name it with --container-runtime-endpoint/,
    );
    assert.match(said[1] ?? '', /it is a directory, no socket/);
  });

  test('of the last run stays: another one that answers does not take its place', async () => {
    const before: DrivenEngine = { endpoint: DOCKER, speaks: 'docker', name: 'docker' };
    const { chosen, said, saved } = await choose({ kind: 'none' }, [{ [CONTAINERD]: containerd }], { before });
    assert.deepEqual([chosen.endpoint, chosen.version], [DOCKER, undefined]);
    assert.deepEqual(saved, []);
    assert.deepEqual(said, [
      `the engine does not answer yet | ${DOCKER} | there is no such file | start the engine`,
      `the engine of before does not answer, another one does: it is taken where it is named | ${DOCKER} | --container-runtime-endpoint=${CONTAINERD} (containerd)`,
    ]);
    const late: DrivenEngine = { endpoint: CONTAINERD, speaks: 'cri', name: 'containerd' };
    assert.equal(
      (await choose({ kind: 'none' }, [{ [DOCKER]: docker, [CONTAINERD]: containerd }], { before: late })).chosen.endpoint,
      CONTAINERD,
    );
  });

  test('of the last run is driven before it answers, and another one that is named is not', async () => {
    const before: DrivenEngine = { endpoint: CONTAINERD, speaks: 'cri', name: 'containerd' };
    const { chosen } = await choose(any(CONTAINERD), [{}], { before });
    assert.deepEqual([chosen.speaks, chosen.name], ['cri', 'containerd']);
    const { slept, saved } = await choose(any(DOCKER), [{}, { [DOCKER]: docker }], { before });
    assert.deepEqual([slept, saved], [[1000], [{ endpoint: DOCKER, speaks: 'docker', name: 'docker' }]]);
  });

  test('is not waited for by who cannot wait', async () => {
    await assert.rejects(
      choose(any(CONTAINERD), [{}], { waits: false }),
      /no engine answers there; .*there is no such file.*start the engine/,
    );
  });

  test('is no longer waited for after a stop', async () => {
    const stop = AbortSignal.abort(new Error('stopped'));
    await assert.rejects(choose(any(CONTAINERD), [{}], { stop }), /stopped/);
  });
});
