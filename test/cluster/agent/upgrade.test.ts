import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import { lastRelease } from '../../../hack/last-release.ts';
import { nodeKubeconfig } from '../../builders/cluster-under-test.ts';
import { launcher } from '../../integration/agent/agent-under-test.ts';
import { app, pod, stays } from '../../integration/agent/pod-specs.ts';
import { ClusterNode, isPodReady, type PodJson } from './cluster-node.ts';

const PODS = 50;
const AT_ONCE = 10;
/** Half of them static, whose pods the API server knows by mirror pods. */
const isStatic = (index: number): boolean => index % 2 === 0;
const PERIOD_SECONDS = 5;

/** A probe that takes long on a busy machine has not failed. */
const probed = (over: object = {}) =>
  pod([
    app(stays, {
      readinessProbe: { exec: { command: ['true'] }, periodSeconds: PERIOD_SECONDS, timeoutSeconds: 60, failureThreshold: 3, ...over },
    }),
  ]);

/** All of a pod that an upgrade must not change: that it is ready and since when, its containers, their restarts and its address. */
const unharmed = ({ metadata, status }: PodJson): unknown => ({
  uid: metadata?.uid,
  ip: status?.podIP,
  ready: status?.conditions
    ?.filter(({ type }) => type.endsWith('Ready'))
    .map(({ type, ...is }) => [type, is.status, is.lastTransitionTime]),
  containers: status?.containerStatuses?.map(({ containerID, ready, restartCount, state }) => [
    containerID,
    ready,
    restartCount,
    state?.running?.startedAt,
  ]),
});

describe('an agent that is upgraded, and put back, under its pods', { timeout: 600_000 }, () => {
  test(`restarts none of ${PODS}, none is unready in between, and what comes next runs`, async (t) => {
    const node = await ClusterNode.prepare(t);
    const { agent } = node;
    const release = lastRelease((line) => t.diagnostic(line));
    t.diagnostic(`from ${release.name ?? 'this build'}`);
    agent.launcher = release.launcher;
    node.run(`--kubeconfig=${await nodeKubeconfig(node.name)}`);
    await node.ready();

    const names = Array.from({ length: PODS }, (_, index) => `p${index}${isStatic(index) ? `-${node.name}` : ''}`);
    const start = async (name: string, index: number): Promise<void> => {
      if (isStatic(index)) await agent.declare(`p${index}`, probed(), { metadata: { namespace: node.namespace } });
      else await node.create(name, probed());
      await node.up(name);
    };
    // No more at once than a busy machine starts while a test is patient.
    for (let from = 0; from < PODS; from += AT_ONCE)
      await Promise.all(names.slice(from, from + AT_ONCE).map((name, index) => start(name, from + index)));
    const before = new Map(names.map((name) => [name, node.pods.get(node.called(name))] as const));
    const seen = node.pods.seen.length;
    const heard = agent.engine.events.length;

    /** The agent ends, and the next one has looked at all pods and probed each at least once: as long as a pod takes that needs two probes. */
    const goOnWith = async (build: string, witness: string): Promise<void> => {
      assert.equal(await agent.kill(), 0);
      const from = agent.lines.length;
      agent.launcher = build;
      node.run();
      for (const name of names)
        await agent.logged(
          `${name} is Running`,
          ({ msg, pod: of, to }) => msg === 'pod phase changed' && String(of).endsWith(`/${node.called(name)}`) && to === 'Running',
          from,
        );
      await node.create(witness, probed({ successThreshold: 2 }));
      await node.up(witness);
    };
    await goOnWith(launcher, 'after-the-upgrade');
    await goOnWith(release.launcher, 'after-the-way-back');

    const own = new Map([...before].map(([name, was]) => [node.called(name), was && unharmed(was)]));
    const harmed = node.pods.seen.slice(seen).filter(({ type, object }) => {
      const was = own.get(object.metadata?.name ?? '');
      return was !== undefined && (type !== 'MODIFIED' || !isDeepStrictEqual(unharmed(object), was));
    });
    assert.deepEqual(
      harmed.map(({ type, object, atMs }) => `${new Date(atMs).toISOString()} ${type} ${JSON.stringify(unharmed(object))}`),
      [],
    );
    for (const name of names) assert.ok(isPodReady(await node.up(name)));
    const touched = agent.engine.events.slice(heard).filter(({ pod: of, action }) => own.has(of) && !action.startsWith('exec_'));
    assert.deepEqual(touched, []);
  });
});
