import type { AdmissionRules } from '../model/pod-admission.ts';
import { featureGates } from '../options/feature-gates/feature-gates.ts';
import type { KubeletOptions } from '../options/kubelet-options.ts';
import { appArmorHost } from './app-armor-host.ts';

/** What the options and this machine let pods have. */
export function admissionRules(options: KubeletOptions): AdmissionRules {
  const { allowPrivileged, hostNetworkSources, hostPidSources, hostIpcSources } = options;
  return {
    allowedUnsafeSysctls: options.allowedUnsafeSysctls,
    privileges: { allowPrivileged, hostNetworkSources, hostPidSources, hostIpcSources },
    appArmor: appArmorHost(),
    podLevelResources: featureGates(options.featureGates).isOn('PodLevelResources'),
  };
}
