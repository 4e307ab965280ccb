import { RawEngine } from './raw-engine.ts';
import type { RawRuntime } from './raw-runtime.ts';

const PAUSE = 'rxlet/pause:1';
const APP = 'busybox:1.35';

export function rawDocker(endpoint: string): RawRuntime {
  const engine = new RawEngine(endpoint);
  return {
    agentFlags: [`--docker-endpoint=${endpoint}`, `--pod-infra-container-image=${PAUSE}`],
    startPod: (name) => engine.startPod(name, PAUSE, APP),
    remove: (ids) => engine.remove(ids),
    watchStarts: (onStart) => engine.watchStarts(onStart),
    count: async () => ((await engine.call('GET', '/containers/json?all=1')) as readonly unknown[]).length,
    close: () => engine.close(),
  };
}
