import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { planRoutes } from '../../../src/agent/plan-routes.ts';
import { systemClock } from '../../../src/base/clock.ts';
import { silentLogger } from '../../../src/base/logger.ts';
import { embeddedEngine } from '../../../src/engines/fake/engine.ts';
import { fakeEngine } from '../../../src/engines/fake/fake-engine.ts';
import type { PlanAnswer } from '../../../src/model/planned-changes.ts';
import { MAX_PLAN_BYTES, type PlanRequest } from '../../../src/model/plan-request.ts';
import { capability as nodeCapability } from '../../../src/node/capability.ts';
import type { Given } from '../../../src/ports/contribution.ts';
import type { DeclaredManifests } from '../../../src/ports/declared-manifests.ts';
import type { NodeManifests } from '../../../src/ports/node-manifests.ts';
import { countingNow } from '../../../src/sources/declarations.ts';
import { nodeManifests } from '../../../src/sources/node-manifests.ts';
import { staticPodReader } from '../../../src/sources/read-static-pods.ts';
import { aManifest } from '../../builders/a-manifest.ts';
import { nodeUnderTest, nothingGiven } from '../../builders/node-parts.ts';
import { serveRoutes } from '../../fakes/served-routes.ts';

const nodeName = 'n1';
const read = staticPodReader({ source: 'file', nodeName, references: 'manifests', objects: true });

/** What a directory of these manifests declares now. */
function directoryOf(files: Readonly<Record<string, string>>): NodeManifests {
  const declaring = Object.entries(files).map(([path, text]) => {
    const { pods, objects } = read(Buffer.from(text));
    return { path, made: { pod: pods[0]?.pod, objects: objects.flatMap(({ object }) => object ?? []) }, gone: false };
  });
  const now: DeclaredManifests = countingNow(declaring, nodeName);
  const deps = { options: { nodeName, podManifestPath: '/manifests', featureGates: {} }, clock: systemClock };
  return { ...nodeManifests(deps, { declaring: () => declaring }), current: () => now };
}

interface Asking {
  readonly ask: (body: unknown, headers?: Readonly<Record<string, string>>) => Promise<{ readonly status: number; readonly text: string }>;
  readonly plan: (request: PlanRequest) => Promise<PlanAnswer>;
}

async function asking(t: TestContext, given: Partial<Given> | undefined): Promise<Asking> {
  const embedded = fakeEngine({ clock: systemClock, log: silentLogger });
  t.after(() => embedded.controls.close());
  const { node } = nodeUnderTest({ engine: embeddedEngine(embedded) });
  const onNode = { ...node, clock: systemClock };
  const participants = [{ name: 'node', pod: nodeCapability(node).pod ?? {} }];
  const all = given && { ...nothingGiven, participants, ...given };
  const served = await serveRoutes(planRoutes({ node: onNode, given: () => all }));
  t.after(() => served.close());
  const ask: Asking['ask'] = async (body, headers = { 'Content-Type': 'application/json' }) => {
    const text = typeof body === 'string' ? body : JSON.stringify(body);
    const response = await fetch(`${served.url}/rxlet/v1/plan`, { method: 'POST', headers, body: text });
    return { status: response.status, text: await response.text() };
  };
  return {
    ask,
    plan: async (request) => {
      const { status, text } = await ask(request);
      assert.equal(status, 200, text);
      return JSON.parse(text) as PlanAnswer;
    },
  };
}

const words = ({ pods }: PlanAnswer): readonly string[] =>
  pods.map(({ pod, consequence, because }) => `${pod}: ${consequence}: ${because.join('; ')}`);

test('what is edited, added, left out and not touched', async (t) => {
  const { plan } = await asking(t, { manifests: directoryOf({ 'web.yaml': aManifest('web'), 'db.yaml': aManifest('db') }) });
  const edited = { file: '/somewhere/web.yaml', text: aManifest('web', 'busybox:1.36') };
  const answer = await plan({ manifests: [edited] });
  assert.deepEqual(words(answer), [
    'default/db: nothing: ',
    'default/web: start: its manifest makes it another pod; nothing of the old one runs',
  ]);
  assert.deepEqual(answer.pods[1]?.changes, [{ path: 'spec.containers[app].image', from: '"busybox:1.35"', to: '"busybox:1.36"' }]);
  assert.deepEqual(words(await plan({ manifests: [edited], whole: true })).slice(0, 1), [
    'default/db: stop: no manifest declares it any more; nothing of it runs',
  ]);
  assert.deepEqual(words(await plan({ manifests: [], whole: true, unreadable: ['/x/db.yaml', '/x/web.yaml'] })), [
    'default/db: nothing: ',
    'default/web: nothing: ',
  ]);
});

test('a manifest with faults is refused, with their places', async (t) => {
  const { plan } = await asking(t, { manifests: directoryOf({ 'web.yaml': aManifest('web') }) });
  const answer = await plan({ manifests: [{ file: 'web.yaml', text: `${aManifest('web')}  restartPolicy: Sometimes\n` }] });
  assert.deepEqual(words(answer), ['default/web: refused: its manifest has a fault: what runs stays as it is']);
  const [fault] = answer.faults;
  assert.deepEqual([fault?.file, fault?.line, fault?.field, answer.moreFaults], ['web.yaml', 9, 'spec.restartPolicy', 0]);
  assert.match(fault?.message ?? '', /^spec\.restartPolicy: Unsupported value: "Sometimes"/);
});

test('a pod that would find no room, no port or no such node is refused, and says so', async (t) => {
  const { plan } = await asking(t, { manifests: directoryOf({}) });
  const pods = {
    big: '    resources: {requests: {cpu: "90"}}\n',
    first: '    ports: [{containerPort: 80, hostPort: 8080}]\n',
    second: '    ports: [{containerPort: 80, hostPort: 8080}]\n',
    elsewhere: '  nodeSelector: {disk: golden}\n',
  };
  const manifests = Object.entries(pods).map(([name, more]) => ({ file: `${name}.yaml`, text: aManifest(name) + more }));
  const said = words(await plan({ manifests }));
  assert.match(said[0] ?? '', /^default\/big: refused: it may not run here: UnexpectedAdmissionError: .*preemption/);
  assert.match(said[1] ?? '', /^default\/elsewhere: refused: it may not run here: NodeAffinity/);
  assert.match(said[2] ?? '', /^default\/first: start:/);
  assert.match(said[3] ?? '', /^default\/second: refused: it may not run here: NodePorts/);
});

test('who asks wrongly hears what is wrong', async (t) => {
  const { ask } = await asking(t, { manifests: directoryOf({}) });
  assert.equal((await ask('{}', { 'Content-Type': 'text/plain' })).status, 415);
  for (const [body, why] of [
    ['no JSON', 'the body is no JSON'],
    [[], 'no manifests'],
    [{ manifests: [{ file: 'x' }] }, 'a manifest without file and text'],
    [{ manifests: [], whole: 1 }, 'whole is true or false'],
    [{ manifests: [], unreadable: [1] }, 'unreadable is a list of files'],
  ] as const) {
    const { status, text } = await ask(body);
    assert.deepEqual([status, text.startsWith(why)], [400, true], text);
  }
});

test('a body at the bound is read, and one byte more is refused', async (t) => {
  const { ask } = await asking(t, { manifests: directoryOf({}) });
  const empty = '{"manifests": []}';
  assert.equal((await ask(empty.padEnd(MAX_PLAN_BYTES))).status, 200);
  assert.equal((await ask(empty.padEnd(MAX_PLAN_BYTES + 1))).status, 413);
});

test('without a manifest directory, before it was read, and while the agent starts there is no plan', async (t) => {
  const request = { manifests: [] };
  const status = async (given: Partial<Given> | undefined): Promise<number> => (await (await asking(t, given)).ask(request)).status;
  assert.equal(await status({}), 409);
  assert.equal(await status({ manifests: { ...directoryOf({}), current: () => undefined } }), 503);
  assert.equal(await status(undefined), 503);
});

test('one plan is made at a time', async (t) => {
  const [reading, go] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const directory = directoryOf({});
  const manifests: NodeManifests = {
    ...directory,
    read: async (...all) => {
      reading.resolve();
      await go.promise;
      return directory.read(...all);
    },
  };
  const { ask } = await asking(t, { manifests });
  const first = ask({ manifests: [] });
  await reading.promise;
  assert.equal((await ask({ manifests: [] })).status, 429);
  go.resolve();
  assert.equal((await first).status, 200);
  assert.equal((await ask({ manifests: [] })).status, 200);
});

test('differences of all pods together are bounded, and the rest is counted', async (t) => {
  const labels = (value: string): string => `\n  labels: {${Array.from({ length: 90 }, (_, i) => `l${i}: ${value}`).join(', ')}}\nspec:`;
  const manifest = (name: string, value: string): string => aManifest(name).replace('\nspec:', labels(value));
  const named = (value: string): Record<string, string> =>
    Object.fromEntries(Array.from({ length: 60 }, (_, i) => [`p${i}.yaml`, manifest(`p${i}`, value)]));
  const { plan } = await asking(t, { manifests: directoryOf(named('a')) });
  const { pods } = await plan({ manifests: Object.entries(named('b')).map(([file, text]) => ({ file, text })) });
  assert.equal(pods.length, 60);
  assert.equal(pods.flatMap(({ changes }) => changes).length, 5_000);
  assert.equal(
    pods.reduce((sum, { moreChanges }) => sum + moreChanges, 0),
    400,
  );
});
