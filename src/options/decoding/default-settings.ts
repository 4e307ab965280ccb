import { isJsonObject } from '../../base/json-object.ts';
import { defaultEvictionHard } from '../../model/eviction/threshold.ts';
import type { DecidingGate } from '../feature-gates/deciding-gates.ts';
import type { FeatureGates, GivenGates } from '../feature-gates/feature-gates.ts';
import { configFields } from './config-fields.ts';
import type { Settings } from './settings.ts';

/** Fields whose default is there only with their gate. */
const gated: ReadonlyMap<string, DecidingGate> = new Map([
  ['crashLoopBackOff.maxContainerRestartPeriod', 'KubeletCrashLoopBackOffMax'],
  ['imagePullCredentialsVerificationPolicy', 'KubeletEnsureSecretPulledImages'],
]);

/** The settings with every default (pkg/kubelet/apis/config/v1beta1 SetDefaults_KubeletConfiguration), that of evictions aside. */
export function withDefaults(settings: Settings, gates: Pick<FeatureGates, 'isOn'>): Settings {
  const complete = new Map(settings);
  // The update frequency alone means both.
  const frequency = settings.get('nodeStatusReportFrequency') ?? settings.get('nodeStatusUpdateFrequency');
  if (frequency !== undefined) complete.set('nodeStatusReportFrequency', frequency);
  const parallel = settings.get('maxParallelImagePulls');
  if (!settings.has('serializeImagePulls')) complete.set('serializeImagePulls', !(typeof parallel === 'number' && parallel > 1));
  const processes = settings.get('podPidsLimit');
  if (typeof processes === 'number' && processes < 0) complete.set('podPidsLimit', -1);
  for (const { path, unset } of configFields.values()) {
    const gate = gated.get(path);
    if (unset !== undefined && !complete.has(path) && (gate === undefined || gates.isOn(gate))) complete.set(path, unset);
  }
  return complete;
}

/** Of a config file, not of what is merged over it later (loadConfigFile in cmd/kubelet/app). */
export function withDefaultEvictions(settings: Settings): Settings {
  const given = settings.get('evictionHard');
  if (given === undefined) return new Map([...settings, ['evictionHard', defaultEvictionHard]]);
  if (settings.get('mergeDefaultEvictionSettings') !== true || !isJsonObject(given)) return settings;
  return new Map([...settings, ['evictionHard', { ...defaultEvictionHard, ...given }]]);
}

/** The gates that a config file sets. */
export function gatesIn(settings: Settings): GivenGates {
  const given = settings.get('featureGates');
  return isJsonObject(given) ? Object.fromEntries(Object.entries(given).map(([name, on]) => [name, on === true])) : {};
}
