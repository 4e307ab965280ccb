import { containerAccessContract } from './container-access-contract.ts';
import { embeddedUnderTest } from './engines-under-test.ts';

containerAccessContract('the embedded engine', embeddedUnderTest);
