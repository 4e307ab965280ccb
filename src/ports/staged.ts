import type { Given } from './contribution.ts';

/** Left to right, as they start; they stop right to left. Each starts when all of the one before are ready. */
export const stages = [
  /** What the agent is to the API server, and what tells it of events. */
  'credentials',
  /** This node in the API: its object and its lease. */
  'node',
  /** What has to be there before the first pod is looked at. */
  'before pods',
  /** Those who follow what becomes of the pods: statuses and mirror pods in the API. */
  'followers',
  'workers',
  'intake',
  /** What is done beside the pods. */
  'beside pods',
  'server',
  /** What says to others that all of this is there. */
  'announcements',
] as const;
export type Stage = (typeof stages)[number];

/** A part that lives as long as the agent, in its stage. */
export interface Staged {
  readonly name: string;
  readonly stage: Stage;
  /** Resolves, drained, soon after `signal` aborts: after 30 s it is left behind, and sooner where others have taken long. A rejection takes the agent down. `given` is all that the capabilities contribute. */
  run(signal: AbortSignal, given: Given): Promise<void>;
  /** Resolves when the next stage may start; absent: at once. Called after `run` was. Late is who takes longer than the stage's deadline. */
  ready?(signal: AbortSignal): Promise<void>;
}
