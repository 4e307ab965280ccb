import type { JsonObject } from '../../base/json-object.ts';
import { configFields } from './config-fields.ts';
import { type Settings, setWhenEmpty } from './settings.ts';

type Tree = Record<string, unknown>;

/** Fields that Kubernetes' types leave out at zero: those that look like nothing (omitempty without a pointer). */
const leftOutAtZero: ReadonlySet<string> = new Set([
  'readOnlyPort',
  'port',
  'registryBurst',
  'eventBurst',
  'nodeLeaseDurationSeconds',
  'maxPods',
  'maxOpenFiles',
  'kubeAPIBurst',
  'evictionMaxPodGracePeriod',
  'podsPerCore',
  'rotateCertificates',
  'serverTLSBootstrap',
  'enableContentionProfiling',
  'runOnce',
  'protectKernelDefaults',
  'kernelMemcgNotification',
  'logging.options.text.splitStream',
  'logging.options.json.splitStream',
]);

/** Written also when nothing is in them. */
const structs = ['authentication.x509', 'memorySwap', 'crashLoopBackOff'] as const;

/** A KubeletConfiguration of v1beta1 that says the same, as Kubernetes writes it. */
export function writtenConfig(settings: Settings): JsonObject {
  const config: Tree = { apiVersion: 'kubelet.config.k8s.io/v1beta1', kind: 'KubeletConfiguration' };
  for (const struct of structs) put(config, struct.split('.'), {});
  for (const [path, value] of settings) {
    const field = configFields.get(path);
    if (field === undefined) put(config, path.split('.'), value);
    else if (!isLeftOut(path, value)) put(config, path.split('.'), field.kind.write ? field.kind.write(value) : value);
  }
  return config;
}

function isLeftOut(path: string, value: unknown): boolean {
  if (value === '') return !setWhenEmpty.has(path);
  if (value === 0 || value === false) return leftOutAtZero.has(path);
  return typeof value === 'object' && value !== null && Object.keys(value).length === 0;
}

function put(into: Tree, [first = '', ...rest]: readonly string[], value: unknown): void {
  const there = into[first];
  const tree: Tree = typeof there === 'object' && there !== null ? { ...there } : {};
  if (rest.length === 0) into[first] = typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...tree, ...value } : value;
  else {
    into[first] = tree;
    put(tree, rest, value);
  }
}
