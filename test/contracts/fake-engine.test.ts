import { containerRuntimeContract } from './container-runtime-contract.ts';
import { embeddedImage, embeddedUnderTest } from './engines-under-test.ts';

containerRuntimeContract('the embedded engine', embeddedUnderTest, embeddedImage);
