import { systemClock } from '../../src/base/clock.ts';
import { silentLogger } from '../../src/base/logger.ts';
import { fakeEngine } from '../../src/fakeengine/fake-engine.ts';
import { containerAccessContract } from './container-access-contract.ts';

const image = 'busybox:1.35';

containerAccessContract('the embedded engine', async () => {
  const { runtime, images, access, controls } = fakeEngine({ clock: systemClock, log: silentLogger, latencyMs: 1 });
  await images.pullImage(image, undefined, () => {}, new AbortController().signal);
  const dispose = (): Promise<void> => {
    controls.close();
    return Promise.resolve();
  };
  return { runtime, images, access, image, dispose };
});
