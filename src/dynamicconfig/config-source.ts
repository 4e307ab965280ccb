import { isJsonObject } from '../base/json-object.ts';
import { readYamlDocument } from '../base/yaml-document.ts';
import type { ConfigMapSource, DownloadedSource } from '../model/node-config.ts';
import { isConfigMapKey, isDns1123Label, isDns1123Subdomain } from '../model/validation/formats.ts';

/** What an API server gives as uid and resource version: the name of a directory each. */
const PATH_SEGMENT = /^[A-Za-z0-9][-A-Za-z0-9]{0,127}$/;

/** What is wrong with a reference to a ConfigMap, a sentence each: its names become paths of the API and of the disk. */
export function sourceFaults(source: ConfigMapSource): readonly string[] {
  const { namespace, name, kubeletConfigKey: key } = source;
  return [
    ...isDns1123Label(namespace).map((fault) => `namespace ${JSON.stringify(namespace)}: ${fault}`),
    ...isDns1123Subdomain(name).map((fault) => `name ${JSON.stringify(name)}: ${fault}`),
    ...isConfigMapKey(key).map((fault) => `kubeletConfigKey ${JSON.stringify(key)}: ${fault}`),
  ];
}

/** The same of one that was downloaded. */
export function downloadedFaults(source: DownloadedSource): readonly string[] {
  const segments = { uid: source.uid, resourceVersion: source.resourceVersion };
  const bad = Object.entries(segments).filter(([, text]) => !PATH_SEGMENT.test(text));
  return [...sourceFaults(source), ...bad.map(([field, text]) => `${field} ${JSON.stringify(text)} cannot be the name of a directory`)];
}

export function sameSource(a: DownloadedSource | undefined, b: DownloadedSource | undefined): boolean {
  if (a === undefined || b === undefined) return a === b;
  return encodeSource(a) === encodeSource(b);
}

/** As Kubernetes keeps it: a SerializedNodeConfigSource of kubelet.config.k8s.io/v1beta1, in YAML. */
export function encodeSource({ kubeletConfigKey, name, namespace, resourceVersion, uid }: DownloadedSource): string {
  const fields = Object.entries({ kubeletConfigKey, name, namespace, resourceVersion, uid });
  return [
    'apiVersion: kubelet.config.k8s.io/v1beta1',
    'kind: SerializedNodeConfigSource',
    'source:',
    '  configMap:',
    ...fields.map(([field, value]) => `    ${field}: ${JSON.stringify(value)}`),
    '',
  ].join('\n');
}

/** Throws where the text is none, or could lead out of its directory. */
export function decodeSource(text: string): DownloadedSource {
  const { content, faults } = readYamlDocument(text);
  const [fault] = faults;
  if (fault) throw new Error(fault.message);
  const configMap = isJsonObject(content) && isJsonObject(content['source']) ? content['source']['configMap'] : undefined;
  if (!isJsonObject(configMap)) throw new Error('it has no source.configMap');
  const field = (name: keyof DownloadedSource): string => {
    const value = configMap[name];
    if (typeof value !== 'string') throw new Error(`it has no source.configMap.${name}`);
    return value;
  };
  const source: DownloadedSource = {
    namespace: field('namespace'),
    name: field('name'),
    uid: field('uid'),
    resourceVersion: field('resourceVersion'),
    kubeletConfigKey: field('kubeletConfigKey'),
  };
  const [wrong] = downloadedFaults(source);
  if (wrong !== undefined) throw new Error(wrong);
  return source;
}
