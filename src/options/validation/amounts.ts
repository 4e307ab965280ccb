import { type CheckedSettings, invalid, type Rule } from './checked-settings.ts';

const notNegative: readonly (readonly [field: string, flag: string])[] = [
  ['eventBurst', 'event-burst'],
  ['eventRecordQPS', 'event-qps'],
  ['kubeAPIBurst', 'kube-api-burst'],
  ['kubeAPIQPS', 'kube-api-qps'],
  ['maxOpenFiles', 'max-open-files'],
  ['maxPods', 'max-pods'],
  ['podsPerCore', 'pods-per-core'],
  ['registryBurst', 'registry-burst'],
  ['registryPullQPS', 'registry-qps'],
];

const ranges: readonly (readonly [field: string, flag: string, least: number, most: number])[] = [
  ['imageGCHighThresholdPercent', 'image-gc-high-threshold', 0, 100],
  ['imageGCLowThresholdPercent', 'image-gc-low-threshold', 0, 100],
  ['iptablesDropBit', 'iptables-drop-bit', 0, 31],
  ['iptablesMasqueradeBit', 'iptables-masquerade-bit', 0, 31],
  ['oomScoreAdj', 'oom-score-adj', -1_000, 1_000],
];

/** Numbers that are looked at alone. */
export const amounts: Rule = (of) => [
  of.number('nodeLeaseDurationSeconds') <= 0 && invalid('nodeLeaseDurationSeconds must be greater than 0'),
  ...notNegative.map(
    ([field, flag]) => of.number(field) < 0 && invalid(`${field} (--${flag}) ${of.number(field)} must not be a negative number`),
  ),
  ...ranges.map(([field, flag, least, most]) => {
    const isOutside = of.number(field) < least || of.number(field) > most;
    return isOutside && invalid(`${field} (--${flag}) ${of.number(field)} must be between ${least} and ${most}, inclusive`);
  }),
  of.number('nodeStatusMaxImages') < -1 &&
    invalid(`nodeStatusMaxImages (--node-status-max-images) ${of.number('nodeStatusMaxImages')} must be -1 or greater`),
  ...ports(of),
];

/** The least port of each; the kubelet's words for healthzPort, which may be 0, say 1. */
function ports(of: CheckedSettings): readonly (string | false)[] {
  return (
    [
      ['healthzPort', 'healthz-port', 0, 1],
      ['port', 'port', 1, 1],
      ['readOnlyPort', 'read-only-port', 0, 0],
    ] as const
  ).map(([field, flag, least, shown]) => {
    const port = of.number(field);
    return (port < least || port > 65_535) && invalid(`${field} (--${flag}) ${port} must be between ${shown} and 65535, inclusive`);
  });
}
