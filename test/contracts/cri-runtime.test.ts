import { containerRuntimeContract } from './container-runtime-contract.ts';
import { criUnderTest } from './cri-under-test.ts';

containerRuntimeContract('a runtime that speaks CRI', criUnderTest);
