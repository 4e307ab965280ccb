import { filter, map, type Observable, Subject } from 'rxjs';
import type { Clock } from '../base/clock.ts';
import { deadline } from '../base/deadline.ts';
import { firstOf } from '../base/first-of.ts';
import { attachedVolume } from '../model/attached-volume.ts';
import { MountStepError } from '../model/mount-step-error.ts';
import type { Cluster } from '../ports/cluster.ts';

export interface AttachmentsDeps {
  readonly cluster: Pick<Cluster, 'exists' | 'node' | 'nodeChanges'>;
  /** enableControllerAttachDetach */
  readonly byController: boolean;
  readonly clock: Pick<Clock, 'monotonicMs' | 'schedule'>;
}

/** A pod's step may take 5 minutes; after a wait as long the pod says what it waits for, and waits again. */
const ATTACH_MS = 100_000;

/** Volumes that the cluster's controller attaches to the node, or says that it may have: it keeps others from having them meanwhile. */
export class Attachments {
  readonly #deps: AttachmentsDeps;
  /** By who has them here: names of node.status. */
  readonly #inUse = new Map<string, readonly string[]>();
  readonly #changes = new Subject<void>();
  /** Emits when `inUse` says something else. Hot. */
  readonly changes: Observable<void> = this.#changes.asObservable();

  constructor(deps: AttachmentsDeps) {
    this.#deps = deps;
  }

  /** Whether somebody else attaches volumes: without, the node does so itself. */
  get byController(): boolean {
    return this.#deps.byController && this.#deps.cluster.exists;
  }

  /** From now on `key` has the volume of these names. */
  use(key: string, names: readonly string[]): void {
    const before = this.#inUse.get(key) ?? [];
    const added = names.filter((name) => !before.includes(name));
    if (added.length === 0) return;
    this.#inUse.set(key, [...before, ...added]);
    this.#changes.next();
  }

  /** `key` has nothing of it any more: it may be detached. */
  unuse(key: string): void {
    if (this.#inUse.delete(key)) this.#changes.next();
  }

  /** As node.status names them. */
  inUse(): readonly string[] {
    return this.byController ? [...new Set([...this.#inUse.values()].flat())].toSorted() : [];
  }

  /** Waits until the volume is attached to this node, and the node's status says that it is in use. Resolves with its device, as the controller says. */
  async attached(name: string, signal: AbortSignal): Promise<string> {
    const { cluster, clock } = this.#deps;
    const now = (): string | undefined => {
      const found = attachedVolume(cluster.node(), name);
      return 'fault' in found ? undefined : found.devicePath;
    };
    const missing = (): MountStepError => {
      const found = attachedVolume(cluster.node(), name);
      return new MountStepError('WaitForAttach', 'fault' in found ? found.fault : 'timed out waiting for the condition');
    };
    using within = deadline(clock, ATTACH_MS, missing, signal);
    const device = await firstOf(
      cluster.nodeChanges.pipe(
        map(now),
        filter((found) => found !== undefined),
      ),
      within.signal,
    );
    return device ?? '';
  }
}
