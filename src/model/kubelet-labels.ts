/** Labels that a kubelet may set on its own Node (pkg/kubelet/apis/well_known_labels.go); the API server's NodeRestriction allows no others of Kubernetes' own. */
export const kubeletLabels: readonly string[] = [
  'beta.kubernetes.io/arch',
  'beta.kubernetes.io/instance-type',
  'beta.kubernetes.io/os',
  'failure-domain.beta.kubernetes.io/region',
  'failure-domain.beta.kubernetes.io/zone',
  'kubernetes.io/arch',
  'kubernetes.io/hostname',
  'kubernetes.io/os',
  'node.kubernetes.io/instance-type',
  'topology.kubernetes.io/region',
  'topology.kubernetes.io/zone',
];
/** Namespaces, with their subdomains, whose labels are all allowed. */
export const kubeletLabelNamespaces: readonly string[] = ['kubelet.kubernetes.io', 'node.kubernetes.io'];

/** Whether the label belongs to Kubernetes and is none that a kubelet may set. */
export function isForbiddenNodeLabel(key: string): boolean {
  const slash = key.indexOf('/');
  const namespace = slash < 0 ? '' : key.slice(0, slash);
  const within = (domain: string): boolean => namespace === domain || namespace.endsWith(`.${domain}`);
  return ['kubernetes.io', 'k8s.io'].some(within) && !kubeletLabels.includes(key) && !kubeletLabelNamespaces.some(within);
}
