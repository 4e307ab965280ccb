import type { EventReason } from '../ports/event-recorder.ts';

/** What happened to the node, to be recorded about it. */
export interface NodeEvent {
  readonly type: 'Normal' | 'Warning';
  readonly reason: EventReason;
  readonly message: string;
}

/** In the kubelet's words (pkg/kubelet/kubelet_node_status.go recordNodeStatusEvent). */
export function nodeStatusEvent(nodeName: string, reason: EventReason): NodeEvent {
  return { type: 'Normal', reason, message: `Node ${nodeName} status is now: ${reason}` };
}
