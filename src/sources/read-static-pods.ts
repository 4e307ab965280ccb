import { defaultPod } from '../model/defaulting/default-pod.ts';
import type { ManifestFault, ManifestWarning } from '../model/manifest-fault.ts';
import { allPodFields, type PodFieldGates } from '../model/pod-field-gates.ts';
import type { Pod } from '../model/pod.ts';
import { unhonouredFields } from '../model/spec-ledger/unhonoured-fields.ts';
import { validatePodCreate } from '../model/validation/validate-pod-create.ts';
import { type ApiReference, apiReferences, explainApiReference } from './api-references.ts';
import { type DecodedPod, manifestDecoder } from './decode-manifest.ts';
import type { Position } from './locate.ts';
import type { ManifestObjectResult } from './read-manifest-object.ts';
import { staticPod, type StaticPodOrigin } from './static-pod.ts';

/** One pod that a manifest declares, or why it may not run. */
export interface StaticPodResult {
  /** "namespace/name" as written, so that a faulty pod is known too. Its namespace is "default" where none is written. */
  readonly key: string;
  /** Where it stands in the manifest. */
  readonly at: Position;
  /** Undefined when there are faults. It is never mutated. */
  readonly pod: Pod | undefined;
  readonly faults: readonly ManifestFault[];
  /** Fields that are not honoured as they are written. */
  readonly unhonoured: readonly ManifestWarning[];
}

export interface StaticManifest {
  readonly pods: readonly StaticPodResult[];
  /** ConfigMaps and Secrets for static pods. */
  readonly objects: readonly ManifestObjectResult[];
  /** Why there is no pod to speak of. */
  readonly faults: readonly ManifestFault[];
  readonly warnings: readonly ManifestWarning[];
}

export interface StaticPodOptions extends StaticPodOrigin {
  /**
   * Whether a pod may refer to objects: to none (the default), to the ConfigMaps and Secrets of a manifest directory, to all that a kubelet
   * allows without the gate PreventStaticPodAPIReferences ('api'), or to anything, as Kubernetes 1.20 let it start.
   */
  readonly references?: 'refuse' | 'manifests' | 'api' | 'allow';
  /** Which fields pods may have; all by default. */
  readonly fields?: PodFieldGates;
  /** Whether a manifest may be a ConfigMap or a Secret. */
  readonly objects?: boolean;
}

export type ReadStaticPods = (manifest: Uint8Array) => StaticManifest;

/** From a manifest's bytes to pods that may run on this node: decoded, defaulted, named for the node, validated. Never throws on any text. */
export function staticPodReader(options: StaticPodOptions): ReadStaticPods {
  const decode = manifestDecoder();
  return (manifest) => {
    const allowed = { allowList: options.source === 'http', allowObjects: options.objects ?? false };
    const { pods, objects, faults, warnings } = decode(manifest, allowed);
    return {
      pods: pods.map((decoded) => readPod(decoded, options)),
      objects,
      faults,
      warnings: [...warnings, ...[...pods, ...objects].flatMap((each) => each.warnings)],
    };
  };
}

function readPod(decoded: DecodedPod, options: StaticPodOptions): StaticPodResult {
  const key = `${decoded.namespace === '' ? 'default' : decoded.namespace}/${decoded.name}`;
  const { line, column } = decoded.locate('');
  const at = { line, column };
  if (decoded.pod === undefined) return { key, at, pod: undefined, faults: decoded.faults, unhonoured: [] };
  if (decoded.name === '') {
    // Whatever else is wrong: it cannot be told apart from others (pkg/kubelet/config applyDefaults).
    const nameless = { type: 'FieldValueRequired', field: 'metadata.name', detail: 'name is needed for the pod' } as const;
    return { key, at, pod: undefined, faults: [{ ...nameless, ...decoded.locate(nameless.field) }], unhonoured: [] };
  }
  const pod = staticPod(defaultPod(decoded.pod), decoded.asWritten, options);
  const writtenEmpty = new Set(decoded.asWritten.filter((each) => each.endsWith('=[]')).map((each) => each.slice(0, -'=[]'.length)));
  const { envFiles, containerRestartRules } = options.fields ?? allPodFields;
  const errors = validatePodCreate(pod, { writtenEmpty, allowEnvFiles: envFiles, allowContainerRestartRules: containerRestartRules });
  const invalid = errors.map((error): ManifestFault => ({ ...error, ...decoded.locate(error.field) }));
  const faults = options.references === 'allow' ? invalid : [...invalid, ...refuseReferences(pod, decoded, options.references)];
  const unhonoured = unhonouredFields(pod).map(({ field, is, note }) => ({ field, detail: `${is}: ${note}`, ...decoded.locate(field) }));
  return { key, at, pod: faults.length === 0 ? pod : undefined, faults, unhonoured };
}

function refuseReferences(
  { spec }: Pod,
  { locate }: DecodedPod,
  references: Exclude<StaticPodOptions['references'], 'allow'>,
): readonly ManifestFault[] {
  const isRefused = ({ inManifests, resource }: ApiReference): boolean => {
    if (references === 'api') return resource === 'clustertrustbundles' || resource === 'resourceclaims';
    return !(references === 'manifests' && inManifests);
  };
  const refused = apiReferences(spec).filter(isRefused);
  return refused.map((reference) => ({
    type: 'FieldValueForbidden',
    field: reference.field,
    detail: explainApiReference(reference),
    ...locate(reference.field),
  }));
}
