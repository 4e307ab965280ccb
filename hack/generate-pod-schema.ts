// node hack/generate-pod-schema.ts [--check]: writes src/sources/pod-schema.generated.ts, the types that a Pod is made of, from
// client-node's models. With --check it fails when the committed file is not what would be written.
import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import * as kubernetes from '@kubernetes/client-node';

interface Attribute {
  readonly name: string;
  readonly baseName: string;
  readonly type: string;
  readonly format: string;
}
type Facts = Readonly<Record<string, string>>;

/** What the models do not tell, by type: fields separated by spaces. All from k8s.io/api/core/v1 types.go and apimachinery's meta/v1. */
const quantities: Facts = {
  ContainerStatus: 'allocatedResources',
  EmptyDirVolumeSource: 'sizeLimit',
  PodSpec: 'overhead',
  PodStatus: 'allocatedResources',
  ResourceFieldSelector: 'divisor',
  ResourceRequirements: 'limits requests',
  VolumeResourceRequirements: 'limits requests',
};
/** Scalars held by pointer: "", 0 and false are not the same as nothing. */
const pointers: Facts = {
  AppArmorProfile: 'localhostProfile',
  AzureDiskVolumeSource: 'cachingMode fsType kind readOnly',
  CSIVolumeSource: 'fsType readOnly',
  ClusterTrustBundleProjection: 'name optional signerName',
  ConfigMapEnvSource: 'optional',
  ConfigMapKeySelector: 'optional',
  ConfigMapProjection: 'optional',
  ConfigMapVolumeSource: 'defaultMode optional',
  Container: 'restartPolicy',
  ContainerStatus: 'started stopSignal',
  DownwardAPIVolumeFile: 'mode',
  DownwardAPIVolumeSource: 'defaultMode',
  EmptyDirVolumeSource: 'sizeLimit',
  EphemeralContainer: 'restartPolicy',
  FCVolumeSource: 'lun',
  FileKeySelector: 'optional',
  GRPCAction: 'service',
  HostPathVolumeSource: 'type',
  ISCSIVolumeSource: 'initiatorName',
  KeyToPath: 'mode',
  Lifecycle: 'stopSignal',
  ManagedFieldsEntry: 'time',
  ObjectMeta: 'deletionGracePeriodSeconds deletionTimestamp',
  OwnerReference: 'blockOwnerDeletion controller',
  PersistentVolumeClaimSpec: 'storageClassName volumeAttributesClassName volumeMode',
  PodCertificateProjection: 'maxExpirationSeconds',
  PodDNSConfigOption: 'value',
  PodResourceClaim: 'resourceClaimName resourceClaimTemplateName',
  PodResourceClaimStatus: 'resourceClaimName',
  PodSchedulingGroup: 'podGroupName',
  PodSecurityContext:
    'fsGroup fsGroupChangePolicy runAsGroup runAsNonRoot runAsUser seLinuxChangePolicy seccompProfile supplementalGroupsPolicy',
  PodSpec:
    'activeDeadlineSeconds automountServiceAccountToken enableServiceLinks hostUsers hostnameOverride preemptionPolicy priority runtimeClassName setHostnameAsFQDN shareProcessNamespace terminationGracePeriodSeconds',
  PodStatus: 'startTime',
  Probe: 'terminationGracePeriodSeconds',
  ProjectedVolumeSource: 'defaultMode',
  SeccompProfile: 'localhostProfile',
  SecretEnvSource: 'optional',
  SecretKeySelector: 'optional',
  SecretProjection: 'optional',
  SecretVolumeSource: 'defaultMode optional',
  SecurityContext: 'allowPrivilegeEscalation privileged procMount readOnlyRootFilesystem runAsGroup runAsNonRoot runAsUser',
  ServiceAccountTokenProjection: 'expirationSeconds',
  Toleration: 'tolerationSeconds',
  TopologySpreadConstraint: 'minDomains nodeAffinityPolicy nodeTaintsPolicy',
  TypedLocalObjectReference: 'apiGroup',
  TypedObjectReference: 'apiGroup namespace',
  VolumeMount: 'mountPropagation recursiveReadOnly',
  VolumeMountStatus: 'recursiveReadOnly',
  WindowsSecurityContextOptions: 'gmsaCredentialSpec gmsaCredentialSpecName hostProcess runAsUserName',
};
/** Held by value though optional: Go always has them. */
const embedded: Facts = {
  Container: 'resources',
  ContainerStatus: 'lastState state',
  EphemeralContainer: 'resources',
  PersistentVolumeClaimSpec: 'resources',
  PersistentVolumeClaimTemplate: 'metadata',
  Pod: 'metadata spec status',
  ProjectedVolumeSource: 'sources',
  ResourceFieldSelector: 'divisor',
};
/** Called required by the models, and yet left out when empty. */
const leftOutWhenEmpty: Facts = { HostAlias: 'ip', HostIP: 'ip', PodIP: 'ip', ScaleIOVolumeSource: 'secretRef' };
/** Fields of older Kubernetes that the models have dropped. */
const legacy: Facts = { EphemeralVolumeSource: 'readOnly:b', ObjectMeta: 'clusterName:s' };

const has = (facts: Facts, type: string, field: string): boolean => facts[type]?.split(' ').includes(field) ?? false;
const shortName = (model: string): string => model.replace(/^(Core)?V1/, '');
const models = join(dirname(fileURLToPath(import.meta.resolve('@kubernetes/client-node'))), 'gen/models');

function attributesOf(model: string): readonly Attribute[] {
  const found = (kubernetes as unknown as Readonly<Record<string, { readonly attributeTypeMap?: readonly Attribute[] } | undefined>>)[
    model
  ];
  if (found?.attributeTypeMap === undefined) throw new Error(`client-node has no model ${model}`);
  return found.attributeTypeMap;
}

function kindOf(type: string, { baseName, type: written, format }: Attribute): string {
  const inner = /^Array<(.*)>$/.exec(written)?.[1];
  if (inner !== undefined) return `[]${kindOf(type, { name: '', baseName, type: inner, format })}`;
  const values = /^\{ \[key: string\]: (.*); \}$/.exec(written)?.[1];
  if (values !== undefined) return `{}${kindOf(type, { name: '', baseName, type: values, format })}`;
  if (/^(Core)?V1/.test(written)) return shortName(written);
  if (has(quantities, type, baseName)) return 'q';
  const scalars: Facts = { string: format === 'byte' ? 'y' : 's', boolean: 'b', number: format === 'int64' ? 'l' : 'i' };
  const others: Facts = { Date: 't', IntOrString: 'p', any: 'j' };
  const kind = scalars[written] ?? others[written];
  if (kind === undefined || format === 'double') throw new Error(`no kind for ${type}.${baseName}: ${written}`);
  return kind;
}

function describe(model: string): string {
  const type = shortName(model);
  const declared = readFileSync(join(models, `${model}.d.ts`), 'utf8');
  const fields = attributesOf(model).map((attribute) => {
    const { name, baseName } = attribute;
    const required = declared.includes(`'${name}': `) && !has(leftOutWhenEmpty, type, baseName);
    const flag = has(pointers, type, baseName) ? '*' : required || has(embedded, type, baseName) ? '!' : '';
    return `${baseName}:${kindOf(type, attribute)}${flag}`;
  });
  return [...fields, ...(legacy[type]?.split(' ') ?? [])].join(' ');
}

const schema = new Map<string, string>();
const waiting = ['V1Pod'];
for (let model = waiting.pop(); model !== undefined; model = waiting.pop()) {
  if (schema.has(shortName(model))) continue;
  schema.set(shortName(model), describe(model));
  waiting.push(...attributesOf(model).flatMap(({ type }) => /\b(?:Core)?V1\w+/.exec(type) ?? []));
}
const lines = [...schema]
  .sort(([a], [b]) => (a < b ? -1 : 1))
  .map(([type, fields]) => {
    const line = `  ${type}: '${fields}',`;
    return line.length <= 140 ? line : `  ${type}:\n    '${fields}',`;
  });
const written = `// Written by hack/generate-pod-schema.ts from client-node's models: do not edit. The notation is explained in pod-schema.ts.
export const podSchemaText: Readonly<Record<string, string>> = {
${lines.join('\n')}
};
`;

const target = join(import.meta.dirname, '../src/sources/pod-schema.generated.ts');
if (!process.argv.includes('--check')) writeFileSync(target, written);
else if (readFileSync(target, 'utf8') !== written) {
  console.error('src/sources/pod-schema.generated.ts is out of date: run node hack/generate-pod-schema.ts');
  process.exitCode = 1;
}
console.log(`pod schema: ${schema.size} types`);
