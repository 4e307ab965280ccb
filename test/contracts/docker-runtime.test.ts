import { systemClock } from '../../src/base/clock.ts';
import { silentLogger } from '../../src/base/logger.ts';
import { DockerImageService } from '../../src/docker/docker-image-service.ts';
import { dockerUnderTest, testImage } from '../builders/docker-under-test.ts';
import { containerRuntimeContract } from './container-runtime-contract.ts';

containerRuntimeContract('docker', async () => {
  const { client, runtime, dispose } = await dockerUnderTest();
  const images = new DockerImageService({ engine: client, clock: systemClock, log: silentLogger });
  return { runtime, images, image: testImage, dispose };
});
