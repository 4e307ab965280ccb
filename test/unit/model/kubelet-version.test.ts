import assert from 'node:assert/strict';
import { test } from 'node:test';
import { kubeletVersion } from '../../../src/model/kubelet-version.ts';
import { versionText } from '../../../src/options/version-text.ts';

test('a version that Kubernetes can parse, with our own beside it', () => {
  assert.match(kubeletVersion('0.1.0'), /^v1\.36\.\d+\+rxlet\.0\.1\.0$/);
});

test('the kubelet on the command line is that of the Node', () => {
  assert.ok(kubeletVersion('0.1.0').startsWith(`${versionText('kubelet', '0.1.0').replace('Kubernetes ', '')}+`));
});
