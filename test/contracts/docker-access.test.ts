import { systemClock } from '../../src/base/clock.ts';
import { silentLogger } from '../../src/base/logger.ts';
import { dockerAccess } from '../../src/docker/docker-access.ts';
import { DockerImageService } from '../../src/docker/docker-image-service.ts';
import { dockerUnderTest, testImage } from '../builders/docker-under-test.ts';
import { containerAccessContract } from './container-access-contract.ts';

containerAccessContract('docker', async () => {
  const { client, runtime, dispose } = await dockerUnderTest();
  const access = dockerAccess({ client, clock: systemClock });
  const images = new DockerImageService({ engine: client, clock: systemClock, log: silentLogger });
  return {
    runtime,
    images,
    access,
    image: testImage,
    dispose: () => {
      access.close();
      return dispose();
    },
  };
});
