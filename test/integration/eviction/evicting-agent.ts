import { Verbosity } from '../../../src/base/verbosity.ts';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { BehaviorSubject } from 'rxjs';
import { capabilities } from '../../../src/capabilities.ts';
import { silentLogger } from '../../../src/base/logger.ts';
import type { ResourceList } from '../../../src/model/node.ts';
import type { Pod } from '../../../src/model/pod.ts';
import type { KubeletOptions } from '../../../src/options/kubelet-options.ts';
import type { NodeParticipant } from '../../../src/ports/node-participant.ts';
import type { NodeParts } from '../../../src/ports/node-parts.ts';
import { runAgent } from '../../../src/run-agent.ts';
import { realSurroundings } from '../../../src/surroundings.ts';
import { aCgroupRoot, type CgroupRoot } from '../../builders/a-cgroup-root.ts';
import { testEndpoint, testImage } from '../../builders/docker-under-test.ts';
import { optionsOfEngine } from '../../builders/engine-of-tests.ts';
import { defaultOptions, someOptions, unchangedConfig } from '../../builders/some-options.ts';
import { aPod } from '../../builders/a-pod.ts';
import { claimEngine, type Disposer } from '../agent/agent-under-test.ts';

const serial = { next: 0 };

export interface EvictingAgent {
  /** A pod that runs the script, with a volume "data" at /data. */
  readonly pod: (name: string, script: string, spec?: Partial<Omit<Pod['spec'], 'containers'>>, limits?: ResourceList) => Pod;
  /** What the API server would say now. */
  readonly declare: (...pods: readonly Pod[]) => void;
  /** "Running", "Failed Evicted"; undefined: nothing yet. */
  readonly stateOf: (pod: Pod) => string | undefined;
  readonly messageOf: (pod: Pod) => string;
  /** The engine's id of its only container; undefined: it has not run yet. */
  readonly containerIdOf: (pod: Pod) => string | undefined;
  /** Its pods' cgroups are below it; undefined: there are none on this machine. */
  readonly cgroups: CgroupRoot | undefined;
  /** The pods that were evicted, by their signal, in their order. */
  readonly evicted: readonly string[];
  /** The node's conditions that are True. */
  readonly pressures: () => readonly string[];
  /** All conditions as they changed: "DiskPressure True". */
  readonly turns: readonly string[];
  readonly until: (what: string, is: () => boolean | Promise<boolean>) => Promise<void>;
  readonly stop: () => Promise<void>;
}

/** `besides`: more capabilities. An agent of this process on the engine under test, whose pods are not critical: they come as from an API server. */
export async function evictingAgent(test: Disposer, over: Partial<KubeletOptions>, ...besides: readonly string[]): Promise<EvictingAgent> {
  if ((over.dockerEndpoint ?? testEndpoint) === testEndpoint) await claimEngine();
  const ours = `e${process.pid}-`;
  const prefix = `${ours}${++serial.next}-`;
  const snapshots = new BehaviorSubject<readonly Pod[]>([]);
  const evicted: string[] = [];
  const turns: string[] = [];
  let node: NodeParts | undefined;
  let participants: readonly NodeParticipant[] = [];
  const wanted = new Set([
    'images',
    'eviction',
    'cgroups',
    'memory',
    'node',
    'volumes',
    'network',
    'objects',
    'garbage',
    'stats',
    ...besides,
  ]);
  const stop = new AbortController();
  const cgroups = await aCgroupRoot();
  const rootDir = over.rootDir ?? (await mkdtemp(join(tmpdir(), 'rxlet-root-')));
  const options = someOptions({
    ...optionsOfEngine(),
    nodeName: 'n1',
    resolvConf: '',
    evictionHard: {},
    cgroupRoot: cgroups?.path ?? '',
    cgroupsPerQos: cgroups !== undefined,
    evictionPressureTransitionPeriodMs: 2_000,
    ...over,
    rootDir,
  });
  const pressures = (): readonly string[] =>
    participants.flatMap((participant) =>
      (participant.conditions?.() ?? []).flatMap(({ type, status }) => (status === 'True' ? [type] : [])),
    );
  const done = runAgent(
    options,
    realSurroundings({ log: silentLogger, origins: defaultOptions.origins, verbosity: new Verbosity(0), config: unchangedConfig }),
    stop.signal,
    [
      ...capabilities.filter(({ name }) => wanted.has(name)),
      {
        name: 'test',
        wanted: () => true,
        load: async () => ({
          capability: (parts) => {
            node = parts;
            return {
              sources: [{ name: 'api', snapshots }],
              listener: { podEvicted: ({ uid, signal }) => void evicted.push(`${uid.slice(`uid-${prefix}`.length)} ${signal}`) },
              services: [
                {
                  name: 'conditions',
                  stage: 'before pods',
                  run: async (signal, given) => {
                    participants = given.node;
                    const subscriptions = given.node.map(({ changes }) => changes?.subscribe(() => turns.push(pressures().join(' '))));
                    await new Promise((resolve) => signal.addEventListener('abort', resolve));
                    for (const each of subscriptions) each?.unsubscribe();
                  },
                },
              ],
            };
          },
        }),
      },
    ],
  );
  const outcome: { failed?: unknown } = {};
  done.catch((error: unknown) => (outcome.failed = error));
  const until = async (what: string, is: () => boolean | Promise<boolean>): Promise<void> => {
    const deadline = performance.now() + 120_000;
    while (!(await is())) {
      if (outcome.failed !== undefined) throw outcome.failed;
      if (performance.now() > deadline) throw new Error(`not within two minutes: ${what}`);
      await sleep(50);
    }
  };
  const end = async (): Promise<void> => {
    stop.abort(new Error('the test stops the agent'));
    await done;
  };
  test.after(async () => {
    snapshots.next([]);
    // One that has stopped leaves them to the next.
    if (!stop.signal.aborted)
      await until('all pods gone', async () => {
        const running = await node?.engine.runtime.listPods(new AbortController().signal);
        const left = await readdir(join(rootDir, 'pods')).catch(() => []);
        return left.length === 0 && (running === undefined || running.every(({ name }) => !name.startsWith(ours)));
      });
    await end();
    await cgroups?.remove();
    if (over.rootDir === undefined) await rm(rootDir, { recursive: true });
  });
  const statusOf = ({ metadata: { uid } }: Pod) => node?.statuses.get(uid);
  return {
    pod: (name, script, spec = {}, limits) => {
      const container = {
        name: 'app',
        image: testImage,
        imagePullPolicy: 'IfNotPresent',
        command: ['sh', '-c', script],
        volumeMounts: [{ name: 'data', mountPath: '/data' }],
        ...(limits && { resources: { limits } }),
      };
      return aPod(prefix + name, {
        terminationGracePeriodSeconds: 5,
        dnsPolicy: 'Default',
        volumes: [{ name: 'data', emptyDir: {} }],
        ...spec,
        containers: [container],
      });
    },
    declare: (...pods) => snapshots.next(pods),
    stateOf: (pod) => {
      const status = statusOf(pod);
      return status && [status.phase, status.reason].filter((part) => part !== undefined).join(' ');
    },
    messageOf: (pod) => statusOf(pod)?.message ?? '',
    containerIdOf: (pod) => /[^/]+$/.exec(statusOf(pod)?.containerStatuses?.[0]?.containerID ?? '')?.[0],
    cgroups,
    evicted,
    pressures,
    turns,
    until,
    stop: end,
  };
}
