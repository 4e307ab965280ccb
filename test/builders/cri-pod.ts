import { randomUUID } from 'node:crypto';
import { mkdtemp, mkdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '../../src/base/clock.ts';
import { NamespaceMode, RuntimeService } from '../../src/engines/cri/api/runtime_pb.js';
import { type CriClient, openCriClient } from '../../src/engines/cri/client/cri-client.ts';
import type { ContainerId, SandboxId } from '../../src/ports/container-runtime.ts';

const IMAGE = 'docker.io/library/busybox:1.35';
const { method } = RuntimeService;
const namespaces = { network: NamespaceMode.POD, pid: NamespaceMode.CONTAINER, ipc: NamespaceMode.POD };

/** One pod on the runtime at RXLET_TEST_CRI_ENDPOINT, made by its own calls, with its logs in a directory of its own. */
export class CriPod implements AsyncDisposable {
  readonly client: CriClient;
  readonly uid: string;
  readonly podLogsDir: string;
  readonly sandbox: SandboxId;
  readonly #config: ReturnType<typeof sandboxConfig>;

  private constructor(client: CriClient, podLogsDir: string, config: ReturnType<typeof sandboxConfig>, sandbox: string) {
    this.client = client;
    this.podLogsDir = podLogsDir;
    this.uid = config.metadata.uid;
    this.sandbox = sandbox as SandboxId;
    this.#config = config;
  }

  static async run(): Promise<CriPod> {
    const endpoint = process.env['RXLET_TEST_CRI_ENDPOINT'];
    if (endpoint === undefined) throw new Error('RXLET_TEST_CRI_ENDPOINT names no runtime: hack/containerd.sh up DIR prints one');
    const tell = { engineCalled: () => {} };
    const client = openCriClient({ endpoint, clock: systemClock, random: Math.random, requestTimeoutMs: 120_000, tell });
    const podLogsDir = await mkdtemp(join(tmpdir(), 'rxlet-cri-pod-'));
    const config = sandboxConfig(podLogsDir);
    await mkdir(config.logDirectory);
    const { podSandboxId } = await client.call(method.runPodSandbox, { config }, new AbortController().signal);
    return new CriPod(client, podLogsDir, config, podSandboxId);
  }

  /** A container that runs a script in a shell. */
  async start(name: string, script: string, over: { readonly stdin?: boolean; readonly tty?: boolean } = {}): Promise<ContainerId> {
    await mkdir(join(this.#config.logDirectory, name));
    const config = {
      metadata: { name, attempt: 0 },
      image: { image: IMAGE },
      command: ['sh', '-c', script],
      logPath: join(name, '0.log'),
      linux: { resources: {}, securityContext: { namespaceOptions: namespaces } },
      ...over,
    };
    const request = { podSandboxId: this.sandbox, sandboxConfig: this.#config, config };
    const { containerId } = await this.client.call(method.createContainer, request, new AbortController().signal);
    await this.client.call(method.startContainer, { containerId }, new AbortController().signal);
    return containerId as ContainerId;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const { signal } = new AbortController();
    await this.client.call(method.stopPodSandbox, { podSandboxId: this.sandbox }, signal);
    await this.client.call(method.removePodSandbox, { podSandboxId: this.sandbox }, signal);
    this.client.close();
    await rm(this.podLogsDir, { recursive: true });
  }
}

function sandboxConfig(podLogsDir: string) {
  const uid = randomUUID();
  return {
    metadata: { name: 'pod', namespace: 'default', uid, attempt: 0 },
    hostname: 'pod',
    logDirectory: join(podLogsDir, `default_pod_${uid}`),
    linux: { securityContext: { namespaceOptions: namespaces } },
  };
}
