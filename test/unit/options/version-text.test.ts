import assert from 'node:assert/strict';
import { test } from 'node:test';
import { versionText } from '../../../src/options/version-text.ts';

test("the version is this agent's own, and under the name of the kubelet that of Kubernetes, as kubeadm reads it", () => {
  for (const [invokedAs, text] of [
    ['rxlet', 'rxlet v0.1.0'],
    ['/usr/bin/kubelet', 'Kubernetes v1.36.2'],
    ['kubelet', 'Kubernetes v1.36.2'],
    ['/kubelet/rxlet', 'rxlet v0.1.0'],
    ['kubelet.js', 'rxlet v0.1.0'],
    ['', 'rxlet v0.1.0'],
  ] as const) {
    assert.equal(versionText(invokedAs, '0.1.0'), text, invokedAs);
  }
  // kubeadm 1.36, cmd/kubeadm/app/preflight and util/version GetKubeletVersion.
  assert.match(`${versionText('kubelet', 'x')}\n`, /^\s*Kubernetes v((0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*))([-0-9a-zA-Z_.+]*)?\s*$/);
});
