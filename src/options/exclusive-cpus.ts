import { featureGates } from './feature-gates/feature-gates.ts';
import type { KubeletOptions } from './kubelet-options.ts';

/** Whether containers with CPUs of their own run without a CFS quota: it would throttle them on CPUs that no other uses. */
export const exclusiveCpusAreUnlimited = (options: Pick<KubeletOptions, 'cpuManagerPolicy' | 'featureGates'>): boolean =>
  options.cpuManagerPolicy === 'static' && featureGates(options.featureGates).isOn('DisableCPUQuotaWithExclusiveCPUs');
