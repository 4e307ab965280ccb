import type { Observable } from 'rxjs';
import type { Pod } from '../model/pod.ts';
import type { PodSummary, SandboxId } from './container-runtime.ts';
import type { Staged } from './staged.ts';

/** Whose sandbox it is; a sandbox that vanished before anybody could ask is known by its id alone. */
export type SandboxOwner = Pick<Pod['metadata'], 'name' | 'namespace'>;

/** Who connects sandboxes that the engine leaves without a network. `pid` is the process that holds the sandbox's network namespace. */
export interface SandboxNetwork {
  /** Why no sandbox can be connected now, in the kubelet's words; undefined: it works. */
  readonly fault: () => string | undefined;
  /** Connects a new sandbox. Resolves with its addresses, primary first. What a failure leaves half done, `tearDown` undoes. */
  setUp(pod: Pod, id: SandboxId, pid: number, signal: AbortSignal): Promise<readonly string[]>;
  /** A running sandbox's addresses, primary first; none when it is not, or not wholly, connected. */
  addresses(id: SandboxId, pid: number, signal: AbortSignal): Promise<readonly string[]>;
  /** The sandboxes that hold something of the network, alive or not: of one pod, by its name, or all. */
  holders(owner?: SandboxOwner): Promise<readonly SandboxId[]>;
  /** Releases what the sandbox has. `pid` is undefined when its namespace is gone. Succeeds when nothing is left to release. */
  tearDown(id: SandboxId, owner: SandboxOwner | undefined, pid: number | undefined, signal: AbortSignal): Promise<void>;
}

/** A network of pods beside the engine, with what it needs done. */
export interface PodsNetwork {
  readonly sandboxes: SandboxNetwork;
  /** Emits when there is another configuration in force. Hot. */
  readonly changes: Observable<void>;
  services(engine: {
    /** What the engine has, from time to time. */
    readonly relists: Observable<readonly PodSummary[]>;
    /** What the engine has now. */
    readonly listPods: (signal: AbortSignal) => Promise<readonly PodSummary[]>;
  }): readonly Staged[];
}
