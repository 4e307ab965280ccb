import { staticPodReader } from '../../../src/sources/read-static-pods.ts';

interface Input {
  readonly nodeName: string;
  readonly source: 'file' | 'http';
  readonly path: string;
  readonly manifest: unknown;
}
type Case = (Input & { readonly op?: undefined }) | { readonly op: 'sameUID'; readonly a: Input; readonly b: Input };
type Read = ReturnType<ReturnType<typeof staticPodReader>>;

export function run(input: Case): unknown {
  if (input.op === 'sameUID') {
    const [a, b] = [read(input.a), read(input.b)].map(({ pods }) => pods[0]?.pod?.metadata.uid);
    return { sameUID: a !== undefined && a === b };
  }
  const { pods, faults } = read(input);
  const all = [...faults, ...pods.flatMap((pod) => pod.faults)];
  // Kubernetes takes all pods of a list or none.
  if (all.length > 0) return { error: all.every(({ type }) => type.startsWith('FieldValue')) ? 'invalid' : 'decode' };
  const text = textOf(input.manifest);
  return { pods: pods.map(({ pod }) => describe(pod, text)) };
}

/** Kubernetes 1.20 let static pods refer to the API server. */
function read({ nodeName, source, manifest }: Input): Read {
  return staticPodReader({ nodeName, source, references: 'allow' })(Buffer.from(textOf(manifest)));
}

const textOf = (manifest: unknown): string => (typeof manifest === 'string' ? manifest : JSON.stringify(manifest));

function describe(pod: Read['pods'][number]['pod'], manifest: string): unknown {
  if (pod === undefined) throw new Error('no pod and no fault');
  const { name, namespace, uid, selfLink, annotations = {} } = pod.metadata;
  const generated = !manifest.includes(uid) && /^[0-9a-f]{32}$/.test(uid);
  const shown = Object.entries(annotations).map(([key, value]) => [key, generated && value === uid ? '<uid>' : value]);
  return {
    name,
    namespace,
    nodeName: pod.spec.nodeName,
    annotations: Object.fromEntries(shown) as unknown,
    tolerations: pod.spec.tolerations ?? [],
    selfLink,
    phase: pod.status?.phase,
    uid: generated ? 'generated' : 'kept',
  };
}
