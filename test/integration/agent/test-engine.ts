import { RawEngine } from '../../../hack/bench/raw-engine.ts';
import { testEndpoint } from '../../builders/docker-under-test.ts';

/** How long anything that a test waits for may take. The engine shares the machine with others. */
const PATIENCE_MS = 90_000;

export interface EngineContainer {
  readonly id: string;
  /** Docker's name, without its slash: k8s_CONTAINER_POD_NAMESPACE_UID_ATTEMPT. */
  readonly name: string;
  readonly pod: string;
  readonly uid: string;
  /** "POD" for a sandbox. */
  readonly container: string;
  readonly state: string;
  readonly attempt: number;
  readonly image: string;
}

/** A look at the engine that is not the agent's own. */
export class TestEngine {
  readonly raw = new RawEngine(testEndpoint);

  /** Containers of pods whose name begins with `prefix`, oldest first. */
  async containers(prefix: string): Promise<readonly EngineContainer[]> {
    const listed = (await this.raw.call('GET', '/containers/json?all=1')) as {
      Id: string;
      Names: string[];
      State: string;
      Image: string;
      Labels: Record<string, string>;
    }[];
    return listed
      .map(({ Id, Names, State, Image, Labels }) => ({
        id: Id,
        name: Names[0]?.slice(1) ?? '',
        pod: Labels['io.kubernetes.pod.name'] ?? '',
        uid: Labels['io.kubernetes.pod.uid'] ?? '',
        container: Labels['io.kubernetes.container.name'] ?? '',
        state: State,
        attempt: Number(Names[0]?.split('_').at(-1)),
        image: Image,
      }))
      .filter(({ pod }) => pod.startsWith(prefix))
      .reverse();
  }

  async running(prefix: string): Promise<readonly EngineContainer[]> {
    return (await this.containers(prefix)).filter(({ state }) => state === 'running');
  }

  /** Resolves with the containers once `done` holds for them; looks whenever the engine says that something happened. */
  async until(
    prefix: string,
    what: string,
    done: (containers: readonly EngineContainer[]) => boolean,
  ): Promise<readonly EngineContainer[]> {
    let changed: () => void = () => {};
    const stop = await this.raw.watch(() => changed());
    const timeout = AbortSignal.timeout(PATIENCE_MS);
    try {
      for (;;) {
        const change = new Promise<void>((resolve, reject) => {
          changed = resolve;
          timeout.addEventListener('abort', () => reject(new Error('too late')), { once: true });
        });
        const containers = await this.containers(prefix);
        if (done(containers)) {
          change.catch(() => {});
          return containers;
        }
        await change.catch(() => {
          const seen = containers.map(({ name, state }) => `${name} ${state}`).join('\n  ');
          throw new Error(`waited ${PATIENCE_MS / 1000} s for: ${what}; the engine has\n  ${seen || 'nothing'}`);
        });
      }
    } finally {
      stop();
    }
  }

  kill(id: string, signal = 'KILL'): Promise<unknown> {
    return this.raw.call('POST', `/containers/${id}/kill?signal=${signal}`);
  }

  inspect(id: string): Promise<EngineInspect> {
    return this.raw.call('GET', `/containers/${id}/json`) as Promise<EngineInspect>;
  }

  /** Removes what a test left. */
  async clear(prefix: string): Promise<void> {
    for (const { id } of await this.containers(prefix)) await this.raw.call('DELETE', `/containers/${id}?force=1`).catch(() => {});
  }
}

export interface EngineInspect {
  readonly Id: string;
  readonly Name: string;
  readonly RestartCount: number;
  readonly State: { readonly StartedAt: string; readonly Status: string; readonly ExitCode: number; readonly FinishedAt: string };
  readonly Config: { readonly Labels: Record<string, string>; readonly Env: string[]; readonly Cmd: string[] };
  readonly HostConfig: Record<string, unknown>;
  readonly LogPath: string;
}
