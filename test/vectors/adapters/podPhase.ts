import type { ContainerStatus, PodSpec } from '../../../src/model/pod.ts';
import { podPhase } from '../../../src/status/pod-phase.ts';

export const run = ({ spec, statuses }: { readonly spec: PodSpec; readonly statuses?: readonly ContainerStatus[] }): unknown =>
  podPhase({ ...spec, containers: spec.containers ?? [] }, statuses ?? []);
