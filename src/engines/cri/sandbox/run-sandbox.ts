import type { Clock } from '../../../base/clock.ts';
import type { Logger } from '../../../base/logger.ts';
import type { Pod } from '../../../model/pod.ts';
import { handlerWithoutUsers } from '../../../model/user-namespace.ts';
import type { RunningSandbox, SandboxId, SandboxSpec } from '../../../ports/container-runtime.ts';
import { POD_UID_LABEL } from '../../common/identity/pod-labels.ts';
import type { KnownFeatures } from '../../common/known-features.ts';
import { type PodSandbox, PodSandboxState, RuntimeService } from '../api/runtime_pb.js';
import type { CriClient } from '../client/cri-client.ts';
import { createdOnce } from '../client/created-once.ts';
import type { LogDirectories } from '../logs/log-directories.ts';
import { addresses } from '../observe/observe-pod.ts';
import { listParts } from '../observe/list-pods.ts';
import { removeSandboxAlone, stopSandbox } from './remove-sandbox.ts';
import { sandboxConfig } from './sandbox-config.ts';
import type { SandboxConfigs } from './sandbox-configs.ts';

export interface SandboxRunning {
  readonly client: Pick<CriClient, 'call' | 'requestTimeoutMs'>;
  readonly clock: Pick<Clock, 'sleep'>;
  readonly log: Pick<Logger, 'info'>;
  readonly configs: SandboxConfigs;
  readonly directories: LogDirectories;
  readonly features: Pick<KnownFeatures, 'now'>;
}

/**
 * Creates and starts a sandbox, which the runtime does in one call, its network included. One of the same attempt that is there already is adopted
 * where it runs, else replaced. Rejects with the runtime's words.
 */
export async function runSandbox(
  running: SandboxRunning,
  pod: Pod,
  spec: SandboxSpec,
  signal: AbortSignal,
  onCreated: (id: SandboxId) => void = () => {},
): Promise<RunningSandbox> {
  signal.throwIfAborted();
  const { client, configs, directories, features } = running;
  const { userNamespace, handler = '' } = spec;
  const refusal = userNamespace && handlerWithoutUsers((await features.now(signal)).handlers, handler);
  if (refusal !== undefined) throw new Error(refusal);
  const config = sandboxConfig(pod, spec, await directories.makeForPod(pod));
  const podSandboxId = await create(running, pod, spec, config, signal);
  const id = podSandboxId as SandboxId;
  configs.remember(id, config);
  onCreated(id);
  if (pod.spec.hostNetwork) return { id, ips: [] };
  const { status } = await client.call(RuntimeService.method.podSandboxStatus, { podSandboxId }, signal);
  return { id, ips: status === undefined ? [] : addresses(status) };
}

function create(
  { client, clock, log }: SandboxRunning,
  { metadata }: Pod,
  { attempt, handler = '' }: SandboxSpec,
  config: ReturnType<typeof sandboxConfig>,
  signal: AbortSignal,
): Promise<string> {
  const { runPodSandbox } = RuntimeService.method;
  // As a kubelet waits for the network (pkg/kubelet/cri/remote RunPodSandbox).
  const deadlineMs = 2 * client.requestTimeoutMs;
  return createdOnce<PodSandbox>(
    {
      create: async () => (await client.call(runPodSandbox, { config, runtimeHandler: handler }, signal, deadlineMs)).podSandboxId,
      holder: async () => {
        const { sandboxes } = await listParts(client, { [POD_UID_LABEL]: metadata.uid }, signal);
        return sandboxes.find((each) => each.metadata?.attempt === attempt);
      },
      fits: async ({ state, runtimeHandler }) => state === PodSandboxState.SANDBOX_READY && runtimeHandler === handler,
      remove: async ({ id }) => {
        await stopSandbox(client, id, signal);
        await removeSandboxAlone(client, id, signal);
      },
    },
    { clock, log, what: 'sandbox' },
    signal,
  );
}
