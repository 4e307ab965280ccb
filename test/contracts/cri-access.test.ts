import { containerAccessContract } from './container-access-contract.ts';
import { criUnderTest } from './cri-under-test.ts';

containerAccessContract('a runtime that speaks CRI', criUnderTest);
