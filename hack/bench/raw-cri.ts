import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { systemClock } from '../../src/base/clock.ts';
import { RuntimeService, SecurityProfile_ProfileType } from '../../src/engines/cri/api/runtime_pb.js';
import { openCriClient } from '../../src/engines/cri/client/cri-client.ts';
import type { RawRuntime } from './raw-runtime.ts';

const { runPodSandbox, createContainer, startContainer, stopPodSandbox, removePodSandbox, listPodSandbox, containerStatus, version } =
  RuntimeService.method;
const APP = 'docker.io/library/busybox:1.35';
const CALL_MS = 120_000;

/** containerd by CRI. What has started is heard past CRI, whose older versions have no events. */
export function rawCri(endpoint: string): RawRuntime {
  const tell = { engineCalled: () => {} };
  const client = openCriClient({ endpoint, clock: systemClock, random: Math.random, requestTimeoutMs: CALL_MS, tell });
  const { signal } = new AbortController();
  return {
    agentFlags: [`--container-runtime-endpoint=${endpoint}`],
    startPod: async (name) => {
      const sandboxConfig = {
        metadata: { name, namespace: 'bench', uid: name, attempt: 0 },
        logDirectory: `/var/log/pods/bench_${name}`,
        linux: { securityContext: { seccomp: { profileType: SecurityProfile_ProfileType.RuntimeDefault } } },
      };
      const { podSandboxId } = await client.call(runPodSandbox, { config: sandboxConfig }, signal);
      const config = {
        metadata: { name: 'app', attempt: 0 },
        image: { image: APP },
        command: ['sh', '-c', 'sleep 100000'],
        logPath: 'app.log',
        linux: { resources: { memoryLimitInBytes: BigInt(64 << 20) } },
      };
      const { containerId } = await client.call(createContainer, { podSandboxId, config, sandboxConfig }, signal);
      await client.call(startContainer, { containerId }, signal);
      return [podSandboxId];
    },
    remove: async (ids) => {
      for (const podSandboxId of ids) {
        await client.call(stopPodSandbox, { podSandboxId }, signal);
        await client.call(removePodSandbox, { podSandboxId }, signal);
      }
    },
    watchStarts: async (onStart) => {
      const events = spawn('ctr', ['-a', endpoint.slice('unix://'.length), '-n', 'k8s.io', 'events'], {
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      const kill = (): void => void events.kill('SIGKILL');
      process.once('exit', kill);
      const tell = async (containerId: string, heardAtMs: number): Promise<void> => {
        // Of a sandbox there is no such status. What this question takes is none of the agent's time.
        const found = await client.call(containerStatus, { containerId }, signal).catch(() => undefined);
        const pod = found?.status?.labels['io.kubernetes.pod.name'];
        if (pod !== undefined) onStart(pod, heardAtMs);
      };
      createInterface({ input: events.stdout }).on('line', (line) => {
        const heardAtMs = performance.now();
        const containerId = /\/tasks\/start .*"container_id":"([0-9a-f]+)"/.exec(line)?.[1];
        if (containerId !== undefined) void tell(containerId, heardAtMs);
      });
      // It listens after a moment that nothing tells.
      await client.call(version, {}, signal);
      return kill;
    },
    count: async () => (await client.call(listPodSandbox, {}, signal)).items.length,
    close: () => client.close(),
  };
}
