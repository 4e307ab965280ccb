import { NEVER } from 'rxjs';
import type { Engine } from '../../ports/engine.ts';
import type { EngineFeatures } from '../../ports/engine-features.ts';
import type { FakeEngine } from './fake-engine.ts';

/** Nothing runs there that could tell the difference. */
const features: EngineFeatures = {
  handlers: [{ name: '', recursiveReadOnly: true, userNamespaces: false }],
  supplementalGroupsPolicy: true,
  imageVolumes: 'once',
};

/** The embedded engine as the agent has it. Nothing of it has a process, a network or a place on the disk. */
export function embeddedEngine({ runtime, images, access, controls }: FakeEngine): Engine {
  return {
    name: 'fake',
    runtime,
    images,
    access,
    running: { list: async () => [], stale: () => {} },
    features: async () => features,
    lastFeatures: () => features,
    dataDirectory: async () => undefined,
    imageBytes: async () => undefined,
    runtimeFault: () => undefined,
    networkFault: () => undefined,
    networkChanges: NEVER,
    services: () => [],
    close: () => controls.close(),
  };
}
