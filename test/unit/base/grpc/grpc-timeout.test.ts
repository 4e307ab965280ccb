import assert from 'node:assert/strict';
import { test } from 'node:test';
import { grpcTimeout } from '../../../../src/base/grpc/grpc-timeout.ts';

for (const [seconds, header] of [
  [1, '1000m'],
  [99_999, '99999000m'],
  [100_000, '100000S'],
  [2 ** 31 - 1, '596524H'],
] as const)
  test(`a gRPC call may take ${seconds} s: no more than eight digits say so`, () => {
    assert.equal(grpcTimeout(seconds * 1000), header);
    assert.match(header, /^\d{1,8}[mSH]$/);
  });
