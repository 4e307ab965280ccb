import { isJsonObject } from '../base/json-object.ts';
import type { ApiPods } from '../ports/api-pods.ts';
import type { Cluster } from '../ports/cluster.ts';
import type { ContainerHooks } from '../ports/container-hooks.ts';
import type { ContainerProbes } from '../ports/container-probes.ts';
import type { ContainerRuntime, CreatedContainer } from '../ports/container-runtime.ts';
import type { Contribution } from '../ports/contribution.ts';
import type { Engine } from '../ports/engine.ts';
import type { EventRecorder } from '../ports/event-recorder.ts';
import type { ImagePuller, PresentImage } from '../ports/image-puller.ts';
import type { Ground } from '../ports/node-parts.ts';
import type { ObjectStore } from '../ports/object-store.ts';
import type { PodObjects } from '../ports/pod-objects.ts';
import type { PodParticipant } from '../ports/pod-participant.ts';
import type { PodSource } from '../ports/pod-source.ts';
import type { RestartMarks } from '../ports/restart-marks.ts';
import type { Staged } from '../ports/staged.ts';
import type { StateFile, StateFiles } from '../ports/state-files.ts';
import type { NodeResources, ThisNode } from '../ports/this-node.ts';
import type { VolumeFiles } from '../ports/volume-files.ts';
import type { KindsOf } from './bound-port.ts';
import type { HiddenValues } from './hidden-values.ts';

/** Their running is bound by who knows what they are given. */
export const serviceKinds: KindsOf<Staged> = { name: 'value', stage: 'value', run: 'aside', ready: 'ask' };
const sourceKinds: KindsOf<PodSource> = { name: 'value', snapshots: 'follow', isFaulty: 'read' };

const createdKinds: KindsOf<CreatedContainer> = { start: 'ask' };

export const runtimeKinds: KindsOf<ContainerRuntime> = {
  hints: 'follow',
  info: 'ask',
  listPods: 'ask',
  observePod: 'ask',
  runSandbox: 'ask',
  createContainer: { asks: createdKinds },
  startContainer: 'ask',
  updateContainer: 'ask',
  stopContainer: 'ask',
  removeContainer: 'ask',
  stopSandbox: 'ask',
  removeSandbox: 'ask',
};

export const engineKinds: KindsOf<Engine> = {
  name: 'value',
  runtime: { port: runtimeKinds },
  images: 'aside',
  access: 'aside',
  running: 'aside',
  features: 'ask',
  lastFeatures: 'read',
  dataDirectory: 'aside',
  imageBytes: 'aside',
  runtimeFault: 'aside',
  networkFault: 'read',
  networkChanges: 'aside',
  usePodCidr: 'aside',
  services: 'aside',
  close: 'tell',
};

const apiPodsKinds: KindsOf<ApiPods> = {
  synced: 'state',
  changes: 'aside',
  byUid: 'read',
  byName: 'read',
  list: 'aside',
  learn: 'aside',
};
const recorderKinds: KindsOf<EventRecorder> = { record: 'tell' };

export const clusterKinds: KindsOf<Cluster> = {
  exists: 'value',
  clients: 'aside',
  sources: { list: sourceKinds },
  apiPods: { port: apiPodsKinds },
  recorder: { port: recorderKinds },
  nodes: 'aside',
  node: 'aside',
  nodeChanges: 'aside',
  servingCertificate: 'aside',
  listener: 'aside',
  services: 'aside',
};

const resourcesKinds: KindsOf<NodeResources> = {
  capacity: 'read',
  allocatable: 'read',
  reserve: 'aside',
  reserved: 'aside',
  provide: 'aside',
  provided: 'aside',
};

export const nodeKinds: KindsOf<ThisNode> = {
  name: 'value',
  ips: 'value',
  initial: 'value',
  known: 'read',
  addresses: 'aside',
  resources: { port: resourcesKinds },
};

const fileKinds: KindsOf<StateFile<unknown>> = { load: 'read', save: 'ask' };
const filesKinds: KindsOf<StateFiles> = { open: { gives: fileKinds } };
const marksKinds: KindsOf<RestartMarks> = { mark: 'ask', load: 'ask' };

export const diskKinds: KindsOf<Pick<Ground, 'files' | 'podFiles' | 'restartMarks'>> = {
  files: { port: filesKinds },
  podFiles: { gives: filesKinds },
  restartMarks: { port: marksKinds },
};

/** Values of Secrets are hidden; so are those of a file of variables, which may hold any. */
export function objectsKinds(hidden: HiddenValues | undefined): KindsOf<PodObjects> {
  const storeKinds: KindsOf<Pick<ObjectStore, 'get'>> = {
    get: {
      hides: (answer, [reference]) =>
        hidden && isJsonObject(reference) && reference['kind'] === 'Secret' ? hidden.secret(answer) : answer,
    },
  };
  return {
    for: { gives: storeKinds },
    register: 'aside',
    unregister: 'aside',
    changes: 'aside',
    tokens: 'aside',
    serviceAccount: 'aside',
    claims: 'aside',
    servicesFor: 'ask',
    declare: 'aside',
    services: 'aside',
  };
}

const participantKinds: KindsOf<PodParticipant> = {
  admit: 'ask',
  wouldAdmit: 'aside',
  makeRoom: 'ask',
  prepare: 'ask',
  isPrepared: 'read',
  sandbox: 'ask',
  container: 'ask',
  cpuset: 'read',
  cgroup: 'read',
  resourceHealth: 'read',
  tearDown: 'ask',
  release: 'ask',
  remains: 'ask',
  holdsEnd: 'aside',
};
const presentKinds: KindsOf<PresentImage> = { ref: 'value', tell: 'tell' };
const imagesKinds: KindsOf<ImagePuller> = { ensureImage: 'ask', presentImage: { asks: presentKinds } };
const probesKinds: KindsOf<ContainerProbes> = {
  liveness: 'read',
  readiness: 'read',
  startup: 'read',
  follow: 'tell',
  reported: 'tell',
  ending: 'tell',
  forget: 'tell',
};
const hooksKinds: KindsOf<ContainerHooks> = { postStart: 'ask', preStop: 'ask', ended: 'tell', forget: 'tell' };

export function contributionKinds(hidden: HiddenValues | undefined): KindsOf<Contribution> {
  const volumeFilesKinds: KindsOf<VolumeFiles> = { read: { hides: (answer) => (hidden ? withHiddenLines(answer, hidden) : answer) } };
  return {
    sources: { list: sourceKinds },
    pod: { port: participantKinds },
    node: 'aside',
    reclaim: 'aside',
    routes: 'aside',
    metricTexts: 'aside',
    listener: 'aside',
    services: 'aside',
    hints: 'aside',
    assigned: 'aside',
    plugins: 'aside',
    images: { port: imagesKinds },
    probes: { port: probesKinds },
    hooks: { port: hooksKinds },
    volumeFiles: { port: volumeFilesKinds },
    csi: 'aside',
    manifests: 'aside',
    stats: 'aside',
    tracing: 'aside',
  };
}

/** KEY=VALUE of each line, with the hash in place of the value. */
function withHiddenLines(file: unknown, hidden: HiddenValues): unknown {
  if (!isJsonObject(file) || typeof file['text'] !== 'string') return file;
  return { ...file, text: file['text'].replaceAll(/=(.+)$/gm, (_line, value: string) => `=${hidden.value(value)}`) };
}
