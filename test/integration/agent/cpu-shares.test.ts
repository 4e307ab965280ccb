import assert from 'node:assert/strict';
import { availableParallelism } from 'node:os';
import { test } from 'node:test';
import { readCgroupHierarchy } from '../../../src/base/cgroup-hierarchy.ts';
import type { Pod } from '../../../src/model/pod.ts';
import { cgroupReader } from '../../../src/stats/cgroup-reader.ts';
import { evictingAgent } from '../eviction/evicting-agent.ts';

const SECOND_NS = 1e9;

test('of two pods that could use all of the machine, the one that asks for 300m gets three times the CPU of the one that asks for 100m', async (t) => {
  const agent = await evictingAgent(t, {});
  // One loop for each processor, for as long as the pod may take at most.
  const loops = Array.from({ length: availableParallelism() }, () => 'while :; do :; done &').join(' ');
  const busy = (name: string, cpu: string): Pod => {
    const pod = agent.pod(name, `trap 'kill $(jobs -p); exit 0' TERM; ${loops} wait`, { activeDeadlineSeconds: 180 });
    return {
      ...pod,
      spec: { ...pod.spec, containers: pod.spec.containers.map((container) => ({ ...container, resources: { requests: { cpu } } })) },
    };
  };
  const pods = [busy('small', '100m'), busy('large', '300m')] as const;
  agent.declare(...pods);
  await agent.until('both run', () => pods.every((pod) => agent.stateOf(pod) === 'Running'));

  const reader = cgroupReader(await readCgroupHierarchy());
  const used = (): readonly number[] =>
    pods.map((pod) => reader.cpu(reader.at(`${agent.cgroups?.path}/kubepods/burstable/pod${pod.metadata.uid}`))?.usageCoreNanoSeconds ?? 0);
  const [smallBefore = 0, largeBefore = 0] = used();
  const since = (): { readonly small: number; readonly large: number } => {
    const [small = 0, large = 0] = used();
    return { small: small - smallBefore, large: large - largeBefore };
  };
  await agent.until('five seconds of CPU used', () => since().small + since().large > 5 * SECOND_NS);
  const { small, large } = since();
  const ratio = large / small;
  assert.ok(
    ratio > 2 && ratio < 4.5,
    `the CPU of the larger pod is ${ratio.toFixed(2)} times that of the smaller: ${large} and ${small} ns`,
  );
});
