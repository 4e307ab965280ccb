import type { Node, NodeStatus } from '../../../src/model/node.ts';
import { nodeStatusHasChanged, nodeStatusPatch } from '../../../src/node/node-status-changed.ts';
import { applyStrategicMergePatch } from '../../fakes/apply-patch.ts';

type Step = { readonly hasChanged: readonly [NodeStatus, NodeStatus] } | { readonly atMs: number; readonly status: NodeStatus };

interface Input {
  readonly reportFrequencySec: number;
  readonly node: Node;
  readonly steps: readonly Step[];
}

export function run({ reportFrequencySec, node, steps }: Input): unknown {
  let stored: Readonly<Record<string, unknown>> = { ...node };
  let lastReportMs: number | undefined;
  return steps.map((step) => {
    if ('hasChanged' in step) return nodeStatusHasChanged(...step.hasChanged);
    const times = { nowMs: step.atMs, lastReportMs, reportFrequencyMs: reportFrequencySec * 1000 };
    const patch = nodeStatusPatch(stored, { ...stored, status: step.status }, times);
    if (patch === undefined) return { patched: false };
    lastReportMs = step.atMs;
    stored = applyStrategicMergePatch(stored, patch, 'Node');
    return { patched: true, patch };
  });
}
