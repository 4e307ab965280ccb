import type { DownloadedSource } from '../../../src/model/node-config.ts';

export const aSource = (over: Partial<DownloadedSource> = {}): DownloadedSource => ({
  namespace: 'kube-system',
  name: 'node-config',
  uid: 'b4a2f5c0-1111-4222-8333-444455556666',
  resourceVersion: '7',
  kubeletConfigKey: 'kubelet',
  ...over,
});

export const kubelet = (maxPods: number | string): string =>
  `apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\nmaxPods: ${maxPods}\n`;
