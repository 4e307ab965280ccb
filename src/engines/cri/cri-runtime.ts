import type { Observable } from 'rxjs';
import type { Clock } from '../../base/clock.ts';
import type { Logger } from '../../base/logger.ts';
import type { PodUid } from '../../model/pod.ts';
import type { ContainerRuntime, EngineInfo } from '../../ports/container-runtime.ts';
import { TerminationMessages } from '../common/containers/termination-messages.ts';
import type { KnownFeatures } from '../common/known-features.ts';
import type { CriFeatures } from './features/engine-features.ts';
import type { LogNames } from '../common/logs/rotated-logs.ts';
import { readLog } from '../common/logs/read-log.ts';
import { RuntimeService } from './api/runtime_pb.js';
import type { CriClient } from './client/cri-client.ts';
import type { CriNode } from './containers/linux-resources.ts';
import type { CriMessageOwner } from './containers/message-owner.ts';
import { removeContainer } from './containers/remove-container.ts';
import { createAhead, startContainer } from './containers/start-container.ts';
import { stopContainer } from './containers/stop-container.ts';
import { updateContainer } from './containers/update-container.ts';
import type { LogDirectories } from './logs/log-directories.ts';
import { CriImageFacts } from './observe/image-facts.ts';
import { listPods } from './observe/list-pods.ts';
import { observePod } from './observe/observe-pod.ts';
import { removeSandbox, stopSandbox } from './sandbox/remove-sandbox.ts';
import { runSandbox } from './sandbox/run-sandbox.ts';
import { SandboxConfigs } from './sandbox/sandbox-configs.ts';

export interface CriRuntimeOptions {
  readonly client: CriClient;
  readonly clock: Clock;
  readonly log: Logger;
  readonly hints: Observable<PodUid>;
  /** --root-dir: termination messages lie under it. */
  readonly rootDir: string;
  readonly podLogsDir: string;
  readonly directories: LogDirectories;
  /** How the log files are named. */
  readonly names: LogNames;
  readonly seccompProfileRoot: string;
  /** Whether containers that ask for no seccomp profile have the runtime's own. */
  readonly seccompDefault: boolean;
  /** Whether the machine labels processes and files. */
  readonly selinux: boolean;
  readonly node: CriNode;
  readonly features: Pick<KnownFeatures<CriFeatures>, 'now'>;
}

/** A runtime that speaks CRI v1 as a ContainerRuntime. Names, labels, annotations and log paths are a kubelet's, so that either adopts what the other started. */
export function criRuntime(options: CriRuntimeOptions): ContainerRuntime {
  const { client, clock, log, hints, rootDir, podLogsDir, names } = options;
  const messages = new TerminationMessages<CriMessageOwner>(
    ({ logPath }, wanted, signal) => readLog(logPath, names, wanted, undefined, signal),
    log,
    rootDir,
  );
  const context = {
    ...options,
    messages,
    images: new CriImageFacts(client, clock),
    configs: new SandboxConfigs(client, podLogsDir),
  };
  return {
    hints,
    info: (signal) => engineInfo(client, signal),
    listPods: (signal) => listPods(client, signal),
    observePod: (uid, signal) => observePod(context, uid, signal),
    runSandbox: (pod, spec, signal, onCreated) => runSandbox(context, pod, spec, signal, onCreated),
    createContainer: (pod, sandbox, spec, signal) => createAhead(context, pod, sandbox, spec, signal),
    startContainer: (pod, sandbox, spec, signal) => startContainer(context, pod, sandbox, spec, signal),
    updateContainer: (id, pod, container, change, signal) => updateContainer(context, id, pod, container, change, signal),
    stopContainer: (id, graceMs, signal) => stopContainer(client, id, graceMs, signal),
    removeContainer: (id, signal) => removeContainer(context, id, signal),
    stopSandbox: (id, signal) => stopSandbox(client, id, signal),
    removeSandbox: (id, signal) => removeSandbox(context, id, signal),
  };
}

async function engineInfo(client: CriClient, signal: AbortSignal): Promise<EngineInfo> {
  const { runtimeName, runtimeVersion, runtimeApiVersion } = await client.call(RuntimeService.method.version, { version: 'v1' }, signal);
  return { name: runtimeName, version: runtimeVersion, apiVersion: runtimeApiVersion };
}
