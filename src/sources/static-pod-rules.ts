import { featureGates, type GivenGates } from '../options/feature-gates/feature-gates.ts';
import { podFieldGates } from '../options/feature-gates/pod-field-gates.ts';
import type { StaticPodOptions } from './read-static-pods.ts';

/** What static pods may have and refer to. */
export type StaticPodRules = Required<Pick<StaticPodOptions, 'fields' | 'references'>>;

/** By the gates EnvFiles, ContainerRestartRules and PreventStaticPodAPIReferences (pkg/kubelet/config tryDecodeSinglePod). */
export const staticPodRules = (given: GivenGates): StaticPodRules => ({
  fields: podFieldGates(given),
  references: featureGates(given).isOn('PreventStaticPodAPIReferences') ? 'manifests' : 'api',
});
