import type { V1Volume } from '@kubernetes/client-node';
import { toLower } from '../go-text.ts';
import type { Given } from './given.ts';
import { isEmpty, requireFields, validateDns1123Label, validateFileMode } from './checks.ts';
import { validateClaimTemplate } from './claim-template.ts';
import type { FieldErrors } from './field-error.ts';
import { isDns1123Subdomain, mustBeBetween } from './formats.ts';
import { validateIscsi } from './iscsi.ts';
import { validateLocalDescendingPath, validatePathNoBacksteps } from './paths.ts';
import type { PodValidationOptions } from './pod-validation-options.ts';
import { validateDownwardAPIFiles, validateKeysToPaths, validateProjected } from './projected-files.ts';
import { readQuantity } from './resources.ts';

type Volume = Given<V1Volume>;
type SourceName = Exclude<keyof Volume, 'name'>;
type Check<T> = (source: T, at: string, errors: FieldErrors, options: PodValidationOptions) => void;

interface SourceRule {
  readonly name: SourceName;
  /** The words in paths where Kubernetes does not use the field's name. */
  readonly path: string;
  readonly secondPath: string;
  readonly check: (volume: Volume, at: string, errors: FieldErrors, options: PodValidationOptions) => void;
}

function source<K extends SourceName>(
  name: K,
  check: Check<NonNullable<Volume[K]>>,
  path: string = name,
  secondPath: string = path,
): SourceRule {
  return {
    name,
    path,
    secondPath,
    check: (volume, at, errors, options) => {
      const value = volume[name];
      if (value !== undefined && value !== null) check(value, at, errors, options);
    },
  };
}

const requires =
  <T extends object>(...names: readonly (keyof T & string)[]): Check<T> =>
  (value, at, errors) =>
    requireFields(value, at, errors, ...names);

const hostPathTypes: readonly string[] = [
  '',
  'BlockDevice',
  'CharDevice',
  'Directory',
  'DirectoryOrCreate',
  'File',
  'FileOrCreate',
  'Socket',
];
const validateHostPath: Check<NonNullable<Volume['hostPath']>> = ({ path = '', type }, at, errors) => {
  if (path === '') return errors.required(`${at}.path`);
  validatePathNoBacksteps(path, `${at}.path`, errors);
  if (type !== undefined && !hostPathTypes.includes(type)) errors.notSupported(`${at}.type`, type, hostPathTypes);
};

/** Kubernetes checks from 0 and says 1. */
function validatePartition(partition: number | undefined, at: string, errors: FieldErrors): void {
  if (partition !== undefined && (partition < 0 || partition > 255)) errors.invalid(at, partition, mustBeBetween(1, 255));
}

const validateFc: Check<NonNullable<Volume['fc']>> = ({ targetWWNs = [], wwids = [], lun }, at, errors) => {
  if (targetWWNs.length === 0 && wwids.length === 0) {
    errors.required(`${at}.targetWWNs`, 'must specify either targetWWNs or wwids, but not both');
  }
  if (targetWWNs.length === 0) return;
  if (wwids.length > 0) errors.invalid(`${at}.targetWWNs`, targetWWNs, 'targetWWNs and wwids can not be specified simultaneously');
  if (lun === undefined) errors.required(`${at}.lun`, 'lun is required if targetWWNs is specified');
  else if (lun < 0 || lun > 255) errors.invalid(`${at}.lun`, lun, mustBeBetween(0, 255));
};

const validateFlocker: Check<NonNullable<Volume['flocker']>> = ({ datasetName = '', datasetUUID = '' }, at, errors) => {
  if (datasetName === '' && datasetUUID === '') errors.required(at, 'one of datasetName and datasetUUID is required');
  if (datasetName !== '' && datasetUUID !== '') {
    errors.invalid(at, 'resource', 'datasetName and datasetUUID can not be specified simultaneously');
  }
  if (datasetName.includes('/')) errors.invalid(`${at}.datasetName`, datasetName, "must not contain '/'");
};

/** Whether Go's net.SplitHostPort takes it. */
const isHostPort = (text: string): boolean => /^(?:\[[^[\]]*\]|[^[\]:]*):[^[\]:]*$/.test(text);

const validateQuobyte: Check<NonNullable<Volume['quobyte']>> = ({ registry = '', tenant = '', volume }, at, errors) => {
  const hostPorts = 'must be a host:port pair or multiple pairs separated by commas';
  if (registry === '') errors.required(`${at}.registry`, hostPorts);
  else if (Buffer.byteLength(tenant) >= 65) errors.required(`${at}.tenant`, 'must be a UUID and may not exceed a length of 64 characters');
  else for (const pair of registry.split(',')) if (!isHostPort(pair)) errors.invalid(`${at}.registry`, registry, hostPorts);
  if (isEmpty(volume)) errors.required(`${at}.volume`);
};

const reserved = /(?:^|\.)(?:kubernetes|k8s)\.io$/i;
const validateFlexVolume: Check<NonNullable<Volume['flexVolume']>> = (flex, at, errors) => {
  requireFields(flex, at, errors, 'driver');
  for (const option of Object.keys(flex.options ?? {})) {
    const [namespace = ''] = option.split('/', 1);
    if (reserved.test(namespace)) errors.invalid(`${at}.options[${option}]`, option, 'kubernetes.io and k8s.io namespaces are reserved');
  }
};

const pullPolicies: readonly string[] = ['Always', 'IfNotPresent', 'Never'];
const cachingModes: readonly string[] = ['None', 'ReadOnly', 'ReadWrite'];
const diskKinds: readonly string[] = ['Dedicated', 'Managed', 'Shared'];
const managedDisk = '/subscriptions/{sub-id}/resourcegroups/{group-name}/providers/microsoft.compute/disks/{disk-id}';
const blobDisk = 'https://{account-name}.blob.core.windows.net/{container-name}/{disk-name}.vhd';
const validateAzureDisk: Check<NonNullable<Volume['azureDisk']>> = (disk, at, errors) => {
  const { diskURI = '', cachingMode, kind } = disk;
  requireFields(disk, at, errors, 'diskName', 'diskURI');
  if (cachingMode !== undefined && !cachingModes.includes(cachingMode)) errors.notSupported(`${at}.cachingMode`, cachingMode, cachingModes);
  if (kind === undefined) return;
  if (!diskKinds.includes(kind)) errors.notSupported(`${at}.kind`, kind, diskKinds);
  const [start, example] = kind === 'Managed' ? ['/subscriptions/', managedDisk] : ['https://', blobDisk];
  if (!diskURI.startsWith(start)) errors.notSupported(`${at}.diskURI`, diskURI, [example]);
};

function requireSecretName(secretRef: { readonly name?: string } | undefined, at: string, errors: FieldErrors): void {
  if (secretRef !== undefined && isEmpty(secretRef.name)) errors.required(`${at}.name`);
}

const validateCsi: Check<NonNullable<Volume['csi']>> = ({ driver = '', nodePublishSecretRef }, at, errors) => {
  if (driver === '') errors.required(`${at}.driver`);
  else {
    if (Buffer.byteLength(driver) > 63) errors.tooLong(`${at}.driver`, 63);
    errors.invalidEach(`${at}.driver`, driver, isDns1123Subdomain(toLower(driver)));
  }
  if (nodePublishSecretRef === undefined) return;
  const { name = '' } = nodePublishSecretRef;
  // The other path is as Kubernetes writes it.
  if (name === '') errors.required(`${at}.nodePublishSecretRef.name`);
  else errors.invalidEach(`${at}.name`, name, isDns1123Subdomain(name));
};

/** In the order of Kubernetes' validateVolumeSource: of several sources the first here is looked into, the others are refused. */
const rules: readonly SourceRule[] = [
  source('emptyDir', ({ sizeLimit }, at, errors) => {
    if (sizeLimit !== undefined && (readQuantity(sizeLimit)?.sign() ?? 0) < 0) {
      errors.forbidden(`${at}.sizeLimit`, 'SizeLimit field must be a valid resource quantity');
    }
  }),
  source('hostPath', validateHostPath),
  source('gitRepo', (repo, at, errors) => {
    requireFields(repo, at, errors, 'repository');
    validateLocalDescendingPath(repo.directory ?? '', `${at}.directory`, errors);
  }),
  source(
    'gcePersistentDisk',
    (disk, at, errors) => {
      requireFields(disk, at, errors, 'pdName');
      validatePartition(disk.partition, `${at}.partition`, errors);
    },
    'persistentDisk',
    'gcePersistentDisk',
  ),
  source('awsElasticBlockStore', (disk, at, errors) => {
    requireFields(disk, at, errors, 'volumeID');
    validatePartition(disk.partition, `${at}.partition`, errors);
  }),
  source('secret', (secret, at, errors) => {
    requireFields(secret, at, errors, 'secretName');
    validateFileMode(secret.defaultMode, `${at}.defaultMode`, errors);
    validateKeysToPaths(secret.items ?? [], `${at}.items`, errors);
  }),
  source('nfs', (nfs, at, errors) => {
    requireFields(nfs, at, errors, 'server', 'path');
    if (nfs.path?.startsWith('/') !== true) errors.invalid(`${at}.path`, nfs.path ?? '', 'must be an absolute path');
  }),
  source('iscsi', validateIscsi),
  source('glusterfs', requires('endpoints', 'path')),
  source('flocker', validateFlocker),
  source('persistentVolumeClaim', requires('claimName')),
  source('rbd', requires('monitors', 'image')),
  source('cinder', (cinder, at, errors) => {
    requireFields(cinder, at, errors, 'volumeID');
    requireSecretName(cinder.secretRef, `${at}.secretRef`, errors);
  }),
  source('cephfs', requires('monitors'), 'cephfs', 'cephFS'),
  source('quobyte', validateQuobyte),
  source(
    'downwardAPI',
    (downward, at, errors, options) => {
      validateFileMode(downward.defaultMode, `${at}.defaultMode`, errors);
      validateDownwardAPIFiles(downward.items ?? [], at, errors, options);
    },
    'downwardAPI',
    'downwarAPI',
  ),
  source('fc', validateFc),
  source('flexVolume', validateFlexVolume),
  source('configMap', (configMap, at, errors) => {
    requireFields(configMap, at, errors, 'name');
    validateFileMode(configMap.defaultMode, `${at}.defaultMode`, errors);
    validateKeysToPaths(configMap.items ?? [], `${at}.items`, errors);
  }),
  source('azureFile', requires('secretName', 'shareName')),
  source('vsphereVolume', requires('volumePath')),
  source('photonPersistentDisk', requires('pdID')),
  source('portworxVolume', requires('volumeID')),
  source('azureDisk', validateAzureDisk),
  source('storageos', ({ volumeName = '', volumeNamespace = '', secretRef }, at, errors) => {
    if (volumeName === '') errors.required(`${at}.volumeName`);
    else validateDns1123Label(volumeName, `${at}.volumeName`, errors);
    if (volumeNamespace !== '') validateDns1123Label(volumeNamespace, `${at}.volumeNamespace`, errors);
    requireSecretName(secretRef, `${at}.secretRef`, errors);
  }),
  source('projected', (projected, at, errors, options) => {
    validateFileMode(projected.defaultMode, `${at}.defaultMode`, errors);
    validateProjected(projected.sources ?? [], at, errors, options);
  }),
  source('scaleIO', requires('gateway', 'system', 'volumeName')),
  source('csi', validateCsi),
  source('ephemeral', ({ volumeClaimTemplate }, at, errors, options) => {
    if (volumeClaimTemplate === undefined) errors.required(`${at}.volumeClaimTemplate`);
    else validateClaimTemplate(volumeClaimTemplate, `${at}.volumeClaimTemplate`, errors, options);
  }),
  source('image', ({ pullPolicy = '' }, at, errors) => {
    if (pullPolicy !== '' && !pullPolicies.includes(pullPolicy)) errors.notSupported(`${at}.pullPolicy`, pullPolicy, pullPolicies);
  }),
];

/** Exactly one source, and that it is whole. `at` is the volume's path. */
export function validateVolumeSource(volume: Volume, at: string, errors: FieldErrors, options: PodValidationOptions): void {
  let found = 0;
  for (const rule of rules) {
    if (volume[rule.name] === undefined) continue;
    if (found++ === 0) rule.check(volume, `${at}.${rule.path}`, errors, options);
    else errors.forbidden(`${at}.${rule.secondPath}`, 'may not specify more than 1 volume type');
    if (rule.name === 'iscsi') validateInitiatorLength(volume, at, errors);
  }
  if (found === 0) errors.required(at, 'must specify a volume type');
}

function validateInitiatorLength({ name = '', iscsi }: Volume, at: string, errors: FieldErrors): void {
  if (iscsi?.initiatorName === undefined || Buffer.byteLength(`${name}:${iscsi.targetPortal ?? ''}`) <= 64) return;
  const total = 'Total length of <volume name>:<iscsi.targetPortal> must be under 64 characters if iscsi.initiatorName is specified.';
  errors.invalid(`${at}.name`, name, total);
}
