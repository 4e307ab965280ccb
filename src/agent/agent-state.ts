import type { Subject } from 'rxjs';
import type { PodUpdate } from '../model/pod-update.ts';
import type { EndedPods } from './ended-pods.ts';
import type { DesiredPods } from './mux/desired-pods.ts';
import type { PodLives } from './reconcile/pod-lives.ts';
import type { PodResizes } from './reconcile/pod-resizes.ts';
import type { PodStatusManager } from './status/status-manager.ts';
import type { Wakes } from './wakes.ts';

/** What the agent writes, and all others read through NodeParts. Made before anything that uses it. */
export interface AgentState {
  readonly pods: DesiredPods;
  readonly updates: Subject<PodUpdate>;
  readonly lives: PodLives;
  readonly statuses: PodStatusManager;
  readonly wakes: Wakes;
  readonly ends: EndedPods;
  readonly resizes: PodResizes;
}
