import { RawEngine } from '../../../hack/bench/raw-engine.ts';
import { testEndpoint, testPauseImage } from '../../builders/docker-under-test.ts';
import type { Changes } from './changes.ts';
import type { EngineContainer, EngineInspect, SeenEvent, TestEngine } from './test-engine.ts';

/** Docker, by its API. */
export class DockerTestEngine implements TestEngine {
  readonly facts = {
    rotatesLogs: true,
    ownCgroupParent: '',
    tellsPullProgress: true,
    endsAbandonedCommands: true,
    callsOfAStart: ['POST /containers/create', 'POST /containers/{id}/start'],
    logLine: (text: string, stream: string) => new RegExp(`"log":"${text}\\\\n","stream":"${stream}"`),
  };
  readonly agentFlags = [`--docker-endpoint=${testEndpoint}`, `--pod-infra-container-image=${testPauseImage}`];
  readonly raw = new RawEngine(testEndpoint);
  readonly events: SeenEvent[] = [];
  readonly #prefix: string;
  readonly #changes: Changes;
  #stopListening: () => void = () => {};

  constructor(prefix: string, changes: Changes) {
    this.#prefix = prefix;
    this.#changes = changes;
  }

  async listen(): Promise<void> {
    this.#stopListening();
    this.#stopListening = await this.raw.watch(({ Action: action, Actor, id, timeNano }) => {
      const pod = Actor.Attributes['io.kubernetes.pod.name'] ?? '';
      if (!pod.startsWith(this.#prefix)) return;
      this.events.push({
        action,
        id,
        pod,
        uid: Actor.Attributes['io.kubernetes.pod.uid'] ?? '',
        container: Actor.Attributes['io.kubernetes.container.name'] ?? '',
        attempt: Number(Actor.Attributes['name']?.split('_').at(5)),
        atMs: timeNano / 1e6,
      });
      this.#changes.tell();
    });
  }

  async containers(): Promise<readonly EngineContainer[]> {
    const listed = (await this.raw.call('GET', '/containers/json?all=1')) as {
      Id: string;
      Names: string[];
      State: string;
      Labels: Record<string, string>;
    }[];
    return listed
      .map(({ Id, Names, State, Labels }) => ({
        id: Id,
        name: Names[0]?.slice(1) ?? '',
        pod: Labels['io.kubernetes.pod.name'] ?? '',
        uid: Labels['io.kubernetes.pod.uid'] ?? '',
        container: Labels['io.kubernetes.container.name'] ?? '',
        state: State,
        attempt: Number(Names[0]?.split('_').at(5)),
      }))
      .filter(({ pod }) => pod.startsWith(this.#prefix))
      .reverse();
  }

  kill(id: string, signal = 'KILL'): Promise<unknown> {
    return this.raw.call('POST', `/containers/${id}/kill?signal=${signal}`);
  }

  async remove(id: string): Promise<void> {
    await this.raw.call('DELETE', `/containers/${id}?force=1&v=1`);
  }

  async exitCode(id: string): Promise<number> {
    return ((await this.raw.call('POST', `/containers/${id}/wait`)) as { readonly StatusCode: number }).StatusCode;
  }

  inspect(id: string): Promise<EngineInspect> {
    return this.raw.call('GET', `/containers/${id}/json`) as Promise<EngineInspect>;
  }

  async images(): Promise<readonly string[]> {
    const listed = (await this.raw.call('GET', '/images/json')) as { RepoTags: string[] | null }[];
    return listed.flatMap(({ RepoTags }) => RepoTags ?? []);
  }

  async removeImage(image: string): Promise<void> {
    await this.raw.call('DELETE', `/images/${image}?force=1`);
  }

  async dispose(): Promise<void> {
    this.#stopListening();
    const left = await this.containers();
    // What an interrupted agent was removing may be gone meanwhile.
    const removed = left.map(({ id }) => this.raw.call('DELETE', `/containers/${id}?force=1&v=1`).catch(() => {}));
    await Promise.all(removed);
    if ((await this.containers()).length > 0) throw new Error('containers are left that cannot be removed');
    this.raw.close();
  }
}

/** The API itself, for what only Docker has. */
export function dockerOf(engine: TestEngine): RawEngine {
  if (engine instanceof DockerTestEngine) return engine.raw;
  throw new Error('this test is about Docker: RXLET_TEST_DOCKER_ENDPOINT names an engine');
}
