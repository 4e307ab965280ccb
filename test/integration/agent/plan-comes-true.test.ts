import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { test } from 'node:test';
import type { V1PodSpec } from '@kubernetes/client-node';
import { LOCAL_SOCKET_NAME } from '../../../src/base/local-socket-name.ts';
import { systemClock } from '../../../src/base/clock.ts';
import { seededRandom } from '../../../src/base/seeded-random.ts';
import { AgentClient } from '../../../src/cli/agent-client.ts';
import { runPlan } from '../../../src/cli/plan.ts';
import type { PlanAnswer } from '../../../src/model/planned-changes.ts';
import type { ReconciledFields, StreamEntry } from '../../../src/model/stream-entry.ts';
import { planTools } from '../../../src/plan-tools.ts';
import { testImage } from '../../builders/docker-under-test.ts';
import { asSeen, whatHappened } from '../../builders/what-happened.ts';
import { AgentUnderTest, NODE } from './agent-under-test.ts';
import { app, pod, stays } from './pod-specs.ts';

const ROUNDS = Number(process.env['RXLET_TEST_RUNS'] ?? 3);
const PATIENCE_MS = 180_000;

interface Declared {
  readonly spec: V1PodSpec;
  readonly metadata: object;
}
type Manifests = Readonly<Record<string, Declared>>;
type Edit = (declared: Declared) => Declared | undefined;

const merged = <T extends object>(base: T, over: object): T => Object.assign(structuredClone(base), over);

/** In its first container. */
const first =
  (over: object): Edit =>
  ({ spec, metadata }) => ({
    metadata,
    spec: merged(spec, { containers: spec.containers.map((each, i) => (i === 0 ? merged(each, over) : each)) }),
  });
const whole =
  (over: object): Edit =>
  ({ spec, metadata }) => ({ metadata, spec: merged(spec, over) });
/** Without resizes that wait for room: a plan counts what they ask for as given, and the agent what they have. */
const edits: Readonly<Record<string, Edit>> = {
  image: first({ image: testImage.replace(/^(?!.*\/)/, 'docker.io/library/') }),
  environment: first({ env: [{ name: 'V', value: '2' }] }),
  'a little memory': first({ resources: { limits: { memory: '96Mi' } } }),
  'a container more': ({ spec, metadata }) => ({
    metadata,
    spec: merged(spec, { containers: [...spec.containers.slice(0, 1), app(stays, { name: 'more' })] }),
  }),
  'a container less': ({ spec, metadata }) => ({ metadata, spec: merged(spec, { containers: spec.containers.slice(0, 1) }) }),
  'the network of the node': whole({ hostNetwork: true }),
  'another node': whole({ nodeSelector: { disk: 'golden' } }),
  'grace period': whole({ terminationGracePeriodSeconds: 4 }),
  'its end': () => undefined,
  nothing: (declared) => declared,
};

/** What the agent's timeline says of looks at pods, as it is written. */
class Looks {
  readonly entries: StreamEntry[] = [];
  #heard = Promise.withResolvers<void>();

  static async follow(rootDir: string): Promise<Looks> {
    const looks = new Looks();
    const lines = await new AgentClient(join(rootDir, LOCAL_SOCKET_NAME)).stream('/rxlet/v1/timeline?stream=reconcile&follow=true');
    const reader = createInterface({ input: lines });
    // They end with the agent.
    for (const each of [lines, reader]) each.on('error', () => {});
    reader.on('line', (line) => {
      looks.entries.push(JSON.parse(line) as StreamEntry);
      looks.#heard.resolve();
      looks.#heard = Promise.withResolvers();
    });
    return looks;
  }

  of(pod: string, from: number, to = this.entries.length): readonly ReconciledFields[] {
    const own = this.entries.slice(from, to).filter((entry) => entry.message === 'reconciled' && entry.pod === pod);
    return own.map(({ fields }) => fields as unknown as ReconciledFields);
  }

  /** Resolves once it holds; rejects after three minutes. */
  async until(what: () => string | undefined): Promise<void> {
    const late = AbortSignal.timeout(PATIENCE_MS);
    for (let why = what(); why !== undefined; why = what()) {
      if (late.aborted) throw new Error(why);
      await Promise.race([this.#heard.promise, once(late, 'abort')]);
    }
  }
}

test('what rxlet plan says is what happens, whichever manifests are edited', { timeout: 1_200_000 }, async (t) => {
  const seed = Number(process.env['RXLET_TEST_SEED'] ?? 519_455_848);
  t.diagnostic(`RXLET_TEST_SEED=${seed}`);
  const random = seededRandom(seed);
  const pick = (): string => Object.keys(edits)[Math.floor(random() * Object.keys(edits).length)] ?? 'nothing';
  const agent = await AgentUnderTest.start(t);
  const next = join(agent.dir, 'next');
  let manifests: Manifests = {
    kept: {
      spec: pod([app(stays, { resources: { limits: { memory: '64Mi' } } }), app(stays, { name: 'other' })]),
      metadata: { uid: `${agent.prefix}kept` },
    },
    made: { spec: pod(), metadata: {} },
  };
  for (const [name, { spec, metadata }] of Object.entries(manifests)) await agent.declare(name, spec, { metadata });
  await agent.logged('kept runs', ({ did }) => /startContainer other: ok/.test(String(did)));
  await agent.logged('made runs', ({ did, pod: of }) => /startContainer app: ok/.test(String(did)) && String(of).includes('made'));
  const looks = await Looks.follow(agent.rootDir);

  for (let round = 0; round < ROUNDS; round++) {
    const chosen = Object.fromEntries(Object.keys(manifests).map((name) => [name, pick()]));
    const edited = Object.entries(manifests).flatMap(([name, declared]) => {
      const now = edits[chosen[name] ?? '']?.(declared);
      return now ? [[name, now] as const] : [];
    });
    const after: Manifests = { ...Object.fromEntries(edited), [`new${round}`]: { spec: pod(), metadata: {} } };
    t.diagnostic(`round ${round}: ${JSON.stringify(chosen)}`);
    await rm(next, { recursive: true, force: true });
    await mkdir(next);
    for (const [name, { spec, metadata }] of Object.entries(after))
      await writeFile(join(next, `${name}.yaml`), agent.manifest(name, spec, metadata));
    const planned = await plan(next, agent.rootDir);
    const from = looks.entries.length;
    const ran = await agent.engine.containers();
    for (const name of Object.keys(manifests)) if (!(name in after)) await agent.remove(name);
    for (const [name, { spec, metadata }] of Object.entries(after)) await agent.declare(name, spec, { metadata });

    assert.equal(planned.pods.length, new Set([...Object.keys(manifests), ...Object.keys(after)]).size);
    await looks.until(() => {
      for (const said of planned.pods) {
        const full = `${said.pod}-${NODE}`;
        const actions = looks.of(full, from).flatMap((look) => look.actions);
        const wereRunning = ran.flatMap((each) =>
          `default/${each.pod}` === full && each.state === 'running' && each.container !== 'POD' ? [each.container] : [],
        );
        const happened = whatHappened(actions, { wereRunning, isSamePod: said.pod.endsWith('kept') });
        const should = asSeen(said);
        if (JSON.stringify(happened) !== JSON.stringify(should))
          return `${said.pod} was planned as ${JSON.stringify(said)}: ${JSON.stringify(happened)} happened`;
      }
      return undefined;
    });
    manifests = after;
  }
});

async function plan(path: string, rootDir: string): Promise<PlanAnswer> {
  let [out, err] = ['', ''];
  const io = { stdout: { write: (text: string) => (out += text) }, stderr: { write: (text: string) => (err += text) } };
  const code = await runPlan(
    [path, '--output=json', `--root-dir=${rootDir}`],
    io,
    planTools({ nodeName: 'node', clock: systemClock }),
    rootDir,
  );
  assert.ok(code < 2, err);
  return JSON.parse(out) as PlanAnswer;
}
