import { containerRuntimeContract } from './container-runtime-contract.ts';
import { realDockerUnderTest } from './engines-under-test.ts';

containerRuntimeContract('docker', realDockerUnderTest);
