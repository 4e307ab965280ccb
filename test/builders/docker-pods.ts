import { randomUUID } from 'node:crypto';
import type { ContainerInspectInfo } from 'dockerode';
import { systemClock } from '../../src/base/clock.ts';
import type { Container, Pod, PodSpec, PodUid } from '../../src/model/pod.ts';
import type { ContainerId, ContainerSpec, SandboxId } from '../../src/ports/container-runtime.ts';
import { aContainer, aPod } from './a-pod.ts';
import { type DockerUnderTest, testEndpoint, testImage } from './docker-under-test.ts';
import { anEngineClient } from './docker-parts.ts';

/** Longer than any single call takes on a busy machine. */
const PATIENCE_MS = 60_000;

/** Pods of one test on the real engine; `clean` removes every trace of them, past whatever stands between runtime and engine. */
export class DockerPods {
  readonly docker: DockerUnderTest;
  readonly #engine = anEngineClient(testEndpoint, systemClock);
  readonly #uids: PodUid[] = [];

  constructor(docker: DockerUnderTest) {
    this.docker = docker;
  }

  get signal(): AbortSignal {
    return AbortSignal.timeout(PATIENCE_MS);
  }

  pod(containers: readonly Container[] = [], spec: Partial<PodSpec> = {}, metadata: Partial<Pod['metadata']> = {}): Pod {
    const uid = randomUUID() as PodUid;
    this.#uids.push(uid);
    return aPod(`it-${uid.slice(0, 8)}`, { ...spec, containers }, { uid, ...metadata });
  }

  container(name: string, over: Partial<Container> = {}): Container {
    return aContainer(name, { image: testImage, command: ['sleep', '1000'], ...over });
  }

  spec(container: Container, over: Partial<ContainerSpec> = {}): ContainerSpec {
    const { command, args } = container;
    return { container, attempt: 0, imageRef: testImage, env: [], command, args, mounts: [], ...over };
  }

  async runSandbox(pod: Pod, attempt = 0): Promise<SandboxId> {
    return (await this.docker.runtime.runSandbox(pod, { attempt, hostname: pod.metadata.name }, this.signal)).id;
  }

  start(pod: Pod, sandbox: SandboxId, container: Container, over: Partial<ContainerSpec> = {}): Promise<ContainerId> {
    return this.docker.runtime.startContainer(pod, sandbox, this.spec(container, over), this.signal);
  }

  inspect(id: string): Promise<ContainerInspectInfo> {
    return this.#engine.call('inspect', PATIENCE_MS, this.signal, (docker) => docker.getContainer(id).inspect());
  }

  /** Past the runtime: as somebody else would. */
  async create(name: string, labels: Readonly<Record<string, string>>): Promise<string> {
    const create = { name, Image: testImage, Cmd: ['sleep', '1000'], Labels: { ...labels } };
    return (await this.#engine.call('create', PATIENCE_MS, this.signal, (docker) => docker.createContainer(create))).id;
  }

  async remove(id: string): Promise<void> {
    await this.#engine.call('remove', PATIENCE_MS, this.signal, (docker) => docker.getContainer(id).remove({ force: true, v: true }));
  }

  async clean(): Promise<void> {
    try {
      for (const uid of this.#uids) {
        const filters = { label: [`io.kubernetes.pod.uid=${uid}`] };
        const found = await this.#engine.call('list', PATIENCE_MS, this.signal, (docker) => docker.listContainers({ all: true, filters }));
        await Promise.all(found.map(({ Id }) => this.remove(Id)));
      }
    } finally {
      this.#engine.close();
      await this.docker.dispose();
    }
  }
}
