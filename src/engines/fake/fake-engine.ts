import { filter, map, type Observable } from 'rxjs';
import type { Clock } from '../../base/clock.ts';
import type { Logger } from '../../base/logger.ts';
import type { LogPolicy } from '../../model/log-policy.ts';
import type { PodUid } from '../../model/pod.ts';
import type { ContainerRuntime } from '../../ports/container-runtime.ts';
import type { ImageService } from '../../ports/image-service.ts';
import type { ContainerAccess } from '../../ports/container-access.ts';
import { CallGate, FakeEngineError, type Verb } from './call-gate.ts';
import type { PullBehaviour } from './container-behaviour.ts';
import { FakeAccess } from './fake-access.ts';
import { FakeDaemon, type Part } from './fake-daemon.ts';
import type { FakeEngineOptions } from './fake-endpoint.ts';
import { FakeImages } from './fake-images.ts';
import { FakeRuntime } from './fake-runtime.ts';

export interface FakeEngineDeps extends FakeEngineOptions {
  readonly clock: Clock;
  readonly log: Logger;
  /** The handlers that sandboxes may ask for; nothing depends on which one it is. */
  readonly handlers?: readonly string[];
  /** How containers' logs are rotated; undefined: not at all. */
  readonly logPolicy?: () => LogPolicy | undefined;
}

/** What can be done to the engine behind the agent's back. */
export interface FakeEngineControls {
  /** The next `times` calls of the verb do nothing and reject with `error`. */
  fail(verb: Verb, error?: Error, times?: number): void;
  /** The next `times` calls of the verb do their work and reject all the same: the answer was lost. */
  loseAnswer(verb: Verb, times?: number): void;
  /** The next `times` calls of the verb do nothing and are not answered until the caller gives up, or the deadline of 2 min. */
  hang(verb: Verb, times?: number): void;
  /** Takes back all faults that are still due, also dropped hints. */
  heal(): void;
  /** From now on hints are lost, or come again. */
  dropHints(drop: boolean): void;
  /** Ends a running container or sandbox. Throws when none runs under this id. */
  kill(id: string, how?: { readonly exitCode?: number; readonly reason?: string }): void;
  /** Calls under way are cut off, new ones refused for `downMs`, hints lost meanwhile. Containers die unless `liveRestore`. */
  restart(how?: { readonly downMs?: number; readonly liveRestore?: boolean }): void;
  /** How an image behaves when pulled from now on; undefined: as usual. */
  scriptPull(image: string, behaviour: PullBehaviour | undefined): void;
  /** How often the verb was called. */
  calls(verb: Verb): number;
  /** What is there, oldest first, without a call. */
  world(): readonly Part[];
  /** Every change of a part, never lost. Hot. */
  readonly changes: Observable<{ readonly part: Part; readonly gone: boolean }>;
  /** Removes everything, so that no timer is left. */
  close(): void;
}

export interface FakeEngine {
  readonly runtime: ContainerRuntime;
  readonly images: ImageService;
  readonly access: ContainerAccess;
  readonly controls: FakeEngineControls;
}

/**
 * The embedded engine behind --docker-endpoint=fake://: sandboxes, containers and images in memory, for as long as the process lives.
 * Containers run nothing: they play what their command, or their pod's annotation, says (see shell.ts and container-behaviour.ts).
 * Holds no timer before the first container runs.
 */
export function fakeEngine({ clock, log, latencyMs = 5, handlers = ['fake'], logPolicy = () => undefined }: FakeEngineDeps): FakeEngine {
  const gate = new CallGate({ clock, latencyMs });
  const daemon = new FakeDaemon(clock);
  const images = new FakeImages(gate, clock, () => imagesUsed(daemon.parts));
  let dropping = false;
  const hints = daemon.changes.pipe(
    filter(() => !dropping && !gate.down),
    map(({ part }): PodUid => part.uid),
  );
  const controls: FakeEngineControls = {
    fail: (verb, error = new FakeEngineError(`${verb}: failed as ordered`), times = 1) => gate.order(verb, { kind: 'fail', error }, times),
    loseAnswer: (verb, times = 1) => gate.order(verb, { kind: 'lose' }, times),
    hang: (verb, times = 1) => gate.order(verb, { kind: 'hang' }, times),
    heal: () => {
      gate.clear();
      dropping = false;
    },
    dropHints: (drop) => {
      dropping = drop;
    },
    kill: (id, { exitCode, reason } = {}) => daemon.kill(id, exitCode, reason),
    restart: ({ downMs = 0, liveRestore = false } = {}) => {
      gate.restart(downMs);
      if (!liveRestore) daemon.killAll();
    },
    scriptPull: (image, behaviour) => images.script(image, behaviour),
    calls: (verb) => gate.calls(verb),
    world: () => daemon.parts,
    changes: daemon.changes.asObservable(),
    close: () => {
      for (const { id } of daemon.parts) daemon.remove(id);
    },
  };
  return {
    runtime: new FakeRuntime({ daemon, gate, images, hints, log, clock, handlers, logPolicy }),
    images,
    access: new FakeAccess({ daemon, gate, clock }),
    controls,
  };
}

/** Of containers and what they see of other images. */
function imagesUsed(parts: readonly Part[]): ReadonlySet<string> {
  const names = parts.flatMap(({ role, given }) => [
    ...(role.kind === 'container' ? (role.imageNames ?? []) : []),
    ...(given.imageMounts ?? []).map(({ imageRef }) => imageRef),
  ]);
  return new Set(names);
}
