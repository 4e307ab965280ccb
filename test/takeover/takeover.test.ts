import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import type { V1Pod, V1PodSpec } from '@kubernetes/client-node';
import { freePort } from '../integration/agent/free-port.ts';
import { app, pod, stays } from '../integration/agent/pod-specs.ts';
import { CriAgent } from '../integration/cri/cri-agent.ts';
import { ReferenceKubelet } from './reference-kubelet.ts';

const often = { periodSeconds: 1, timeoutSeconds: 30 };
const even = { cpu: '20m', memory: '32Mi' };
const volumeMounts = [{ name: 'data', mountPath: '/data' }];
const volumes = [{ name: 'data', emptyDir: {} }];
/** What a node has: several containers, probes, volumes, what has ended, what keeps failing, the node's network. */
const specs: Readonly<Record<string, V1PodSpec>> = {
  web: pod(
    [
      app(`touch /data/ready; ${stays}`, {
        volumeMounts,
        readinessProbe: { exec: { command: ['cat', '/data/ready'] }, ...often },
        livenessProbe: { exec: { command: ['true'] }, ...often },
        env: [{ name: 'NAME', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } }],
        ports: [{ containerPort: 8000, name: 'http' }],
        resources: { requests: { cpu: '10m', memory: '16Mi' }, limits: { memory: '64Mi' } },
      }),
      app(stays, { name: 'side', volumeMounts }),
    ],
    { volumes, initContainers: [app('echo first >/data/log', { name: 'setup', volumeMounts })], hostname: 'pearl' },
  ),
  node: pod([app(stays, { securityContext: { runAsUser: 1000, readOnlyRootFilesystem: true } })], { hostNetwork: true }),
  shared: pod([app(stays), app(stays, { name: 'other' })], { shareProcessNamespace: true, securityContext: { supplementalGroups: [7] } }),
  even: pod([app(stays, { resources: { requests: even, limits: even } })]),
  done: pod([app('echo done')], { restartPolicy: 'Never' }),
};
/** An agent and a kubelet make the same uid only where it is said. */
const uidOf = (name: string): string => `00000000-0000-4000-8000-${Buffer.from(name.padEnd(6)).toString('hex')}`;
const phases: Readonly<Record<string, string>> = { web: 'Running', node: 'Running', shared: 'Running', even: 'Running', done: 'Succeeded' };

/** Those of pods, and what is of their classes. */
const cgroupPaths = [
  '',
  '/burstable',
  '/besteffort',
  `/pod${uidOf('even')}`,
  `/burstable/pod${uidOf('web')}`,
  ...['node', 'shared'].map((name) => `/besteffort/pod${uidOf(name)}`),
];
const limitFiles = [
  ['cpu', 'cpu.shares'],
  ['cpu', 'cpu.cfs_quota_us'],
  ['memory', 'memory.limit_in_bytes'],
  ['pids', 'pids.max'],
] as const;

interface SeenCgroup {
  readonly limits: Readonly<Record<string, string | undefined>>;
  readonly processes: readonly number[];
}

/** Each by its path below that of all pods. Commands of probes come and go: of a pod that has some no processes are told. */
async function cgroupsOf({ cgroups }: CriAgent): Promise<Readonly<Record<string, SeenCgroup>>> {
  assert.ok(cgroups, 'this test needs cgroups that it may write');
  const seen = cgroupPaths.map(async (path): Promise<readonly [string, SeenCgroup]> => {
    const below = `/kubepods${path}`;
    const limits = limitFiles.map(async ([controller, file]) => [file, (await cgroups.read(below, controller, file))?.trim()] as const);
    const processes = /\/pod/.test(path) && !path.includes(uidOf('web')) ? await cgroups.fs.processes(cgroups.path + below) : [];
    return [path, { limits: Object.fromEntries(await Promise.all(limits)), processes: [...processes].sort((a, b) => a - b) }];
  });
  return Object.fromEntries(await Promise.all(seen));
}

/** What each has to find: phases, readiness, and no restart. */
const settled = (pods: readonly V1Pod[], nodeName: string): boolean =>
  Object.entries(phases).every(([name, phase]) => {
    const { status } = pods.find(({ metadata }) => metadata?.name === `${name}-${nodeName}`) ?? {};
    const containers = status?.containerStatuses ?? [];
    return (
      status?.phase === phase &&
      containers.length > 0 &&
      containers.every((each) => phase === 'Succeeded' || each.ready) &&
      restartsOf(containers) === 0
    );
  });
const restartsOf = (containers: readonly { readonly restartCount: number }[]): number =>
  containers.reduce((sum, { restartCount }) => sum + restartCount, 0);

test(
  'a node goes from a kubelet to the agent and back, and to the agent again: nothing starts again, and each goes on with what the other left',
  { timeout: 600_000 },
  async (t) => {
    let kubelet: ReferenceKubelet | undefined;
    // Before what the agent leaves is removed: it would make it again.
    t.after(() => kubelet?.stop());
    const agent = await CriAgent.prepare(t);
    for (const [name, spec] of Object.entries(specs))
      await agent.declare(`${name}.json`, { apiVersion: 'v1', kind: 'Pod', metadata: { name, uid: uidOf(name) }, spec });
    const port = await freePort();
    kubelet = new ReferenceKubelet(agent, port);
    // A kubelet tells nothing of itself but when asked.
    const looking = setInterval(() => agent.look(), 500);
    t.after(async () => clearInterval(looking));
    const kubeletHasAll = (): Promise<true> =>
      agent.until('the kubelet has all pods as declared', async () => settled((await kubelet?.pods()) ?? [], agent.node));
    await kubeletHasAll();
    const made = await agent.parts();
    const cgroups = await cgroupsOf(agent);
    assert.deepEqual(
      [cgroups[`/burstable/pod${uidOf('web')}`]?.limits['cpu.shares'], cgroups['/besteffort']?.limits['cpu.shares']],
      ['10', '2'],
    );
    assert.equal(made.filter((part) => part.startsWith('sandbox ')).length, Object.keys(specs).length);

    const agentTakes = async (): Promise<void> => {
      await kubelet?.stop();
      agent.run('--v=4');
      await agent.until('the agent has all pods as declared', async () => {
        // It does not listen yet when it begins.
        const pods = await agent.pods().catch(() => undefined);
        return pods !== undefined && settled([...pods.values()], agent.node);
      });
      assert.deepEqual(await agent.parts(), made);
      // It reports its pods before it has seen to their classes.
      await agent.until('the classes are what their pods ask for', async () =>
        isDeepStrictEqual((await cgroupsOf(agent))['/burstable'], cgroups['/burstable']),
      );
      assert.deepEqual(await cgroupsOf(agent), cgroups);
    };
    await agentTakes();
    assert.equal(await agent.cli('exec', `web-${agent.node}`, '-c', 'side', '--', 'cat', '/data/log'), 'first\n');
    assert.equal(await agent.cli('logs', `done-${agent.node}`), 'done\n');

    await agent.kill();
    kubelet = new ReferenceKubelet(agent, port);
    await kubeletHasAll();
    // By its own log it has seen to each pod by then, and begun nothing.
    const begun = kubelet.lines.filter((line) => /will be restarted|definition changed|Killing unwanted|Stopping container/.test(line));
    assert.deepEqual(begun, []);
    assert.deepEqual(await agent.parts(), made);
    // It begins with the least for this class, and looks again after a minute; the agent, which has it back by then, sets it.
    assert.deepEqual({ ...(await cgroupsOf(agent)), '/burstable': cgroups['/burstable'] }, cgroups);

    await agentTakes();
  },
);
