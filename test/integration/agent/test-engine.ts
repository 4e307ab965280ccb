import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { RawEngine } from '../../../hack/bench/raw-engine.ts';
import { testEndpoint } from '../../builders/docker-under-test.ts';
import type { Changes } from './changes.ts';

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
}

export interface SeenEvent {
  readonly action: string;
  readonly id: string;
  readonly pod: string;
  readonly uid: string;
  readonly container: string;
  readonly attempt: number;
  readonly atMs: number;
}

export interface EngineInspect {
  readonly Id: string;
  readonly Name: string;
  readonly State: {
    readonly StartedAt: string;
    readonly FinishedAt: string;
    readonly Status: string;
    readonly ExitCode: number;
    readonly Pid: number;
  };
  readonly Config: { readonly Labels: Record<string, string>; readonly Env: string[]; readonly Hostname: string };
  readonly HostConfig: {
    readonly NetworkMode: string;
    readonly IpcMode: string;
    readonly Memory: number;
    readonly NanoCpus: number;
    readonly CpuShares: number;
    readonly CpuPeriod: number;
    readonly CpuQuota: number;
    readonly CgroupParent: string;
    readonly PidsLimit: number | null;
    readonly CpusetCpus: string;
    readonly CpusetMems: string;
  };
  readonly LogPath: string;
}

/** A look at the engine that is not the agent's own: containers of pods whose name begins with `prefix`. */
export class TestEngine {
  readonly raw = new RawEngine(testEndpoint);
  /** All that was heard, in the engine's order. */
  readonly events: SeenEvent[] = [];
  readonly #prefix: string;
  readonly #changes: Changes;
  #stopListening: () => void = () => {};

  constructor(prefix: string, changes: Changes) {
    this.#prefix = prefix;
    this.#changes = changes;
  }

  /** Hears events from now on. To be called again when the engine was away. */
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

  /** Oldest first. */
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

  inspect(id: string): Promise<EngineInspect> {
    return this.raw.call('GET', `/containers/${id}/json`) as Promise<EngineInspect>;
  }

  /** Names of the images that are there. */
  async images(): Promise<readonly string[]> {
    const listed = (await this.raw.call('GET', '/images/json')) as { RepoTags: string[] | null }[];
    return listed.flatMap(({ RepoTags }) => RepoTags ?? []);
  }

  async removeImage(image: string): Promise<void> {
    await this.raw.call('DELETE', `/images/${image}?force=1`);
  }

  /** Removes what a test left, and stops listening. */
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

/** Stops or starts the Docker Engine under test, which has to be a private one. */
export async function engineService(command: 'start' | 'stop'): Promise<void> {
  await promisify(execFile)(resolve(import.meta.dirname, '../../../hack/docker.sh'), [command, privateEngine()]);
}

/** The Docker Engine under test, which has to be a private one, takes connections and answers nothing until what this resolves with is called. */
export async function freezeEngine(): Promise<() => Promise<void>> {
  const pid = Number(await readFile(join(privateEngine(), 'docker.pid'), 'utf8'));
  process.kill(pid, 'SIGSTOP');
  return async () => void process.kill(pid, 'SIGCONT');
}

function privateEngine(): string {
  const directory = process.env['RXLET_TEST_ENGINE_DIR'];
  if (directory === undefined) throw new Error('RXLET_TEST_ENGINE_DIR names the private engine to stop; hack/test.sh sets it');
  return directory;
}
