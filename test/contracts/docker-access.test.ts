import { containerAccessContract } from './container-access-contract.ts';
import { realDockerUnderTest } from './engines-under-test.ts';

containerAccessContract('docker', realDockerUnderTest);
