import { systemClock } from '../../src/base/clock.ts';
import { silentLogger } from '../../src/base/logger.ts';
import { fakeEngine } from '../../src/fakeengine/fake-engine.ts';
import { containerRuntimeContract } from './container-runtime-contract.ts';
import type { EngineUnderTest } from './runtime-world.ts';

const image = 'busybox:1.35';
const make = async (): Promise<EngineUnderTest> => {
  const { runtime, images, controls } = fakeEngine({ clock: systemClock, log: silentLogger, latencyMs: 1 });
  await images.pullImage(image, undefined, () => {}, new AbortController().signal);
  const dispose = (): Promise<void> => {
    controls.close();
    return Promise.resolve();
  };
  return { runtime, images, image, dispose };
};

containerRuntimeContract('the embedded engine', make, image);
