import { parseLoopbackAddress } from '../base/loopback-address.ts';
import { parsedText } from './kinds.ts';
import { ExpectedError, type Kind } from './option.ts';

/** An address of this machine alone, and a port; empty: none. */
export const loopbackAddress: Kind<string> = {
  name: 'address',
  expected: 'a loopback address and a port, such as 127.0.0.1:8080, localhost:8080 or [::1]:8080',
  parse: (text) => {
    if (text !== '' && parseLoopbackAddress(text) === undefined) throw new ExpectedError(loopbackAddress.expected);
    return text;
  },
  show: (value) => value,
  schema: (z) => parsedText(z, loopbackAddress.expected, (text) => loopbackAddress.parse(text)),
};
