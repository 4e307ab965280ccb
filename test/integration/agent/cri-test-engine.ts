import { execFile, spawn } from 'node:child_process';
import { dirname } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { systemClock } from '../../../src/base/clock.ts';
import { isJsonObject, type JsonObject } from '../../../src/base/json-object.ts';
import { ContainerState, ImageService, PodSandboxState, RuntimeService } from '../../../src/engines/cri/api/runtime_pb.js';
import { openCriClient } from '../../../src/engines/cri/client/cri-client.ts';
import { criEndpoint } from '../../builders/engine-of-tests.ts';
import type { Changes } from './changes.ts';
import type { EngineContainer, EngineInspect, SeenEvent, TestEngine } from './test-engine.ts';

const { listPodSandbox, listContainers, podSandboxStatus, containerStatus } = RuntimeService.method;
const { stopPodSandbox, removePodSandbox, stopContainer, removeContainer } = RuntimeService.method;
const { listImages, removeImage } = ImageService.method;
/** The agent's own calls may be in the way of a test's. */
const CALL_MS = 120_000;
const TRIES = 60;
const ACTIONS: Readonly<Record<string, string>> = {
  '/containers/create': 'create',
  '/tasks/start': 'start',
  '/tasks/exit': 'die',
  '/containers/delete': 'destroy',
};
const STATES = {
  [ContainerState.CONTAINER_CREATED]: 'created',
  [ContainerState.CONTAINER_RUNNING]: 'running',
  [ContainerState.CONTAINER_EXITED]: 'exited',
  [ContainerState.CONTAINER_UNKNOWN]: 'unknown',
} as const;
const SANDBOX_STATES = { [PodSandboxState.SANDBOX_READY]: 'running', [PodSandboxState.SANDBOX_NOTREADY]: 'exited' } as const;

type Identity = Pick<SeenEvent, 'pod' | 'uid' | 'container' | 'attempt'>;

/** containerd: by CRI, and by its own program where CRI has no events, no signals and no way past the agent. */
export class CriTestEngine implements TestEngine {
  readonly facts = {
    rotatesLogs: false,
    ownCgroupParent: '/k8s.io',
    tellsPullProgress: false,
    endsAbandonedCommands: false,
    callsOfAStart: ['CreateContainer', 'StartContainer'],
    logLine: (text: string, stream: string) => new RegExp(`^\\S+ ${stream} F ${text}$`, 'm'),
  };
  readonly agentFlags = [`--container-runtime-endpoint=${criEndpoint()}`];
  readonly events: SeenEvent[] = [];
  readonly #client = openCriClient({
    endpoint: criEndpoint(),
    clock: systemClock,
    random: Math.random,
    requestTimeoutMs: CALL_MS,
    tell: { engineCalled: () => {} },
  });
  readonly #signal = new AbortController().signal;
  readonly #prefix: string;
  readonly #changes: Changes;
  readonly #known = new Map<string, Promise<Identity | undefined>>();
  #heard: Promise<void> = Promise.resolve();
  #stopListening: () => void = () => {};

  constructor(prefix: string, changes: Changes) {
    this.#prefix = prefix;
    this.#changes = changes;
  }

  async listen(): Promise<void> {
    this.#stopListening();
    const listening = spawn('ctr', [...ctr(), 'events'], { stdio: ['ignore', 'pipe', 'inherit'] });
    const kill = (): void => void listening.kill('SIGKILL');
    process.once('exit', kill);
    this.#stopListening = () => {
      process.removeListener('exit', kill);
      kill();
    };
    createInterface({ input: listening.stdout }).on('line', (line) => this.#hear(line));
  }

  async containers(): Promise<readonly EngineContainer[]> {
    const [{ items }, { containers }] = await Promise.all([
      this.#client.call(listPodSandbox, {}, this.#signal),
      this.#client.call(listContainers, {}, this.#signal),
    ]);
    const sandboxes = items.map(({ id, metadata, labels, state, createdAt }) => ({
      part: part(id, labels, 'POD', metadata?.attempt, SANDBOX_STATES[state]),
      createdAt,
    }));
    const others = containers.map(({ id, metadata, labels, state, createdAt }) => ({
      part: part(id, labels, metadata?.name ?? '', metadata?.attempt, STATES[state]),
      createdAt,
    }));
    return [...sandboxes, ...others]
      .sort((a, b) => Number(a.createdAt - b.createdAt))
      .map((each) => each.part)
      .filter(({ pod }) => pod.startsWith(this.#prefix));
  }

  async kill(id: string, signal = 'KILL'): Promise<void> {
    await run('ctr', [...ctr(), 'tasks', 'kill', '-s', `SIG${signal}`, id]);
  }

  async remove(id: string): Promise<void> {
    if (await this.#isSandbox(id)) {
      await this.#client.call(stopPodSandbox, { podSandboxId: id }, this.#signal);
      await this.#client.call(removePodSandbox, { podSandboxId: id }, this.#signal);
    } else {
      await this.#client.call(stopContainer, { containerId: id, timeout: 0n }, this.#signal);
      await this.#client.call(removeContainer, { containerId: id }, this.#signal);
    }
  }

  async inspect(id: string): Promise<EngineInspect> {
    const sandbox = await this.#isSandbox(id);
    const told = sandbox
      ? await this.#client.call(podSandboxStatus, { podSandboxId: id, verbose: true }, this.#signal)
      : await this.#client.call(containerStatus, { containerId: id, verbose: true }, this.#signal);
    const { status } = told;
    if (status === undefined) throw new Error(`containerd has no status of ${id}`);
    const { runtimeSpec, pid } = object(JSON.parse(told.info['info'] ?? '{}'));
    const { process, linux, hostname } = object(runtimeSpec);
    const { resources, cgroupsPath } = object(linux);
    const { cpu, memory, pids, unified } = object(resources);
    const { limit, swap } = object(memory);
    const { shares, quota, period, cpus, mems } = object(cpu);
    const { env } = object(process);
    const ended = 'finishedAt' in status ? status : undefined;
    const stateOf = 'finishedAt' in status ? STATES[status.state] : SANDBOX_STATES[status.state];
    return {
      Id: id,
      Name: part(id, status.labels, ended ? (status.metadata?.name ?? '') : 'POD', status.metadata?.attempt, '').name,
      State: {
        StartedAt: String(ended?.startedAt ?? status.createdAt),
        FinishedAt: String(ended?.finishedAt ?? 0),
        Status: stateOf,
        ExitCode: ended?.exitCode ?? 0,
        Pid: number(pid),
      },
      Config: {
        Labels: {
          ...status.labels,
          ...Object.fromEntries(Object.entries(status.annotations).map(([key, value]) => [`annotation.${key}`, value])),
        },
        Env: Array.isArray(env) ? env.map(String) : [],
        Hostname: text(hostname),
      },
      HostConfig: {
        Memory: number(limit),
        // With cgroup v2 what it may swap is a file of its own.
        MemorySwap: number(swap) + Number(object(unified)['memory.swap.max'] ?? 0),
        CpuShares: number(shares),
        CpuPeriod: number(period),
        CpuQuota: number(quota),
        CgroupParent: dirname(text(cgroupsPath)),
        PidsLimit: number(object(pids)['limit']),
        CpusetCpus: text(cpus),
        CpusetMems: text(mems),
      },
      LogPath: 'logPath' in status ? status.logPath : '',
    };
  }

  async exitCode(id: string): Promise<number> {
    return this.#changes
      .until(
        `${id} has ended`,
        async () => {
          const { status } = await this.#client.call(containerStatus, { containerId: id }, this.#signal);
          return status?.state === ContainerState.CONTAINER_EXITED && { code: status.exitCode };
        },
        async () => '',
      )
      .then(({ code }) => code);
  }

  async images(): Promise<readonly string[]> {
    const { images } = await this.#client.call(listImages, {}, this.#signal);
    return images.flatMap(({ repoTags }) => repoTags).map((name) => name.replace(/^docker\.io\/(library\/)?/, ''));
  }

  async removeImage(image: string): Promise<void> {
    await this.#client.call(removeImage, { image: { image } }, this.#signal);
  }

  async dispose(): Promise<void> {
    this.#stopListening();
    await this.#heard;
    try {
      let left = await this.containers();
      // What an interrupted agent was starting cannot be removed until it has started.
      for (let tries = 0; left.length > 0 && tries < TRIES; tries++) {
        if (tries > 0) await systemClock.sleep(500, this.#signal);
        for (const { id, container } of left) if (container === 'POD') await this.remove(id).catch(() => {});
        left = await this.containers();
      }
      if (left.length > 0) throw new Error(`left, and cannot be removed: ${left.map(({ name }) => name).join(', ')}`);
    } finally {
      this.#client.close();
    }
  }

  async #isSandbox(id: string): Promise<boolean> {
    return (await this.#client.call(listPodSandbox, { filter: { id } }, this.#signal)).items.length > 0;
  }

  /** In the order in which they came, though whose they are has to be asked. */
  #hear(line: string): void {
    const [, at = '', zone = '', topic = '', fields = ''] = /^(\S+ \S+) (\S+) \S+ \S+ (\/\S+) (.*)$/.exec(line) ?? [];
    const action = ACTIONS[topic];
    if (action === undefined) return;
    const { id: own, container_id: of = own } = object(JSON.parse(fields));
    const id = text(of);
    const { id: execution } = object(JSON.parse(fields));
    // Of a command in a container.
    if (topic === '/tasks/exit' && execution !== id) return;
    if (!this.#known.has(id)) this.#known.set(id, identityOf(id));
    const identity = this.#known.get(id);
    this.#heard = this.#heard.then(async () => {
      const found = await identity;
      if (!found?.pod.startsWith(this.#prefix)) return;
      this.events.push({ action, id, ...found, atMs: Date.parse(`${at.slice(0, 23).replace(' ', 'T')}${zone.replace(/(\d\d)$/, ':$1')}`) });
      if (action === 'die') await this.#saysSo(id);
      this.#changes.tell();
    });
  }

  /** containerd sends its event before CRI shows the end. */
  async #saysSo(id: string): Promise<void> {
    for (let tries = 0; tries < TRIES; tries++) {
      const [part] = (await this.containers()).filter((each) => each.id === id);
      if (part?.state !== 'running') return;
      await systemClock.sleep(20, this.#signal);
    }
  }
}

const run = promisify(execFile);
const ctr = (): readonly string[] => ['-a', criEndpoint().slice('unix://'.length), '-n', 'k8s.io'];

/** As containerd keeps it from the create on; undefined: it has gone by now. */
async function identityOf(id: string): Promise<Identity | undefined> {
  const told = await run('ctr', [...ctr(), 'containers', 'info', id]).catch(() => undefined);
  if (told === undefined) return undefined;
  const { Labels, Extensions } = object(JSON.parse(told.stdout));
  const labels = object(Labels);
  const kept = Object.entries(object(Extensions)).find(([name]) => name.endsWith('.metadata'))?.[1];
  const { Metadata } = object(JSON.parse(Buffer.from(text(object(kept)['value']), 'base64').toString()));
  const { metadata } = object(object(Metadata)['Config']);
  return {
    pod: text(labels['io.kubernetes.pod.name']),
    uid: text(labels['io.kubernetes.pod.uid']),
    container: text(labels['io.kubernetes.container.name']) || 'POD',
    attempt: number(object(metadata)['attempt']),
  };
}

function part(id: string, labels: Readonly<Record<string, string>>, container: string, attempt = 0, state: string): EngineContainer {
  const { 'io.kubernetes.pod.name': pod = '', 'io.kubernetes.pod.uid': uid = '', 'io.kubernetes.pod.namespace': namespace = '' } = labels;
  return { id, name: ['k8s', container, pod, namespace, uid, attempt].join('_'), pod, uid, container, state, attempt };
}

const object = (value: unknown): JsonObject => (isJsonObject(value) ? value : {});
const number = (value: unknown): number => (typeof value === 'number' ? value : 0);
const text = (value: unknown): string => (typeof value === 'string' ? value : '');
