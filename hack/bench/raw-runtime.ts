/** What the agent's speed is held against: an engine of its own, spoken to as plainly as can be. */
export interface RawRuntime {
  /** By which an agent runs its pods there. */
  readonly agentFlags: readonly string[];
  /** A sandbox, and in it a container that sleeps: the least that a pod costs. Resolves with what `remove` takes. */
  startPod(name: string): Promise<readonly string[]>;
  remove(ids: readonly string[]): Promise<void>;
  /** Starts of app containers of pods: the pod's name, and when it was heard (performance.now). Stop it with the returned function. */
  watchStarts(onStart: (pod: string, heardAtMs: number) => void): Promise<() => void>;
  /** Sandboxes and containers, dead or alive. */
  count(): Promise<number>;
  close(): void;
}
