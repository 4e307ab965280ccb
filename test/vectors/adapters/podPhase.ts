import type { ContainerStatus, PodSpec, PodUid } from '../../../src/model/pod.ts';
import { podPhase } from '../../../src/agent/status/pod-phase.ts';

const metadata = { name: 'p', namespace: 'ns', uid: 'u' as PodUid };

export const run = ({ spec, statuses }: { readonly spec: PodSpec; readonly statuses?: readonly ContainerStatus[] }): unknown =>
  podPhase({ metadata, spec: { ...spec, containers: spec.containers ?? [] } }, statuses ?? []);
