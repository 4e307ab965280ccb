import assert from 'node:assert/strict';
import { test } from 'node:test';
import { flagz } from '../../../src/options/flagz.ts';
import { someOptions } from '../../builders/some-options.ts';

test('flags are shown as they would be written, without what may be secret', () => {
  const flags = flagz(
    someOptions({ port: 1234, manifestUrl: 'https://me:secret@example.com/?key=secret', manifestUrlHeader: { Authorization: ['secret'] } }),
  );
  assert.equal(flags.get('port'), '1234');
  assert.equal(flags.get('manifest-url'), 'https://me:[redacted]@example.com/?[redacted]');
  assert.equal(flags.get('manifest-url-header'), 'CLASSIFIED');
  assert.doesNotMatch([...flags.values()].join(' '), /secret/);
});
