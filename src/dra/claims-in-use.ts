import { exposition } from '../base/exposition.ts';

/** What stands for all drivers together in the metric. No driver has such a name. */
const ANY_DRIVER = '<any>';

/** Claims that are prepared on the node. */
export interface ClaimsInUse {
  /** A claim with devices of several drivers counts once. */
  readonly all: number;
  /** Only of drivers that have some. */
  readonly byDriver: ReadonlyMap<string, number>;
}

/** The part of /metrics about them (pkg/kubelet/cm/dra claimInfoCollector). */
export function claimsInUseText({ all, byDriver }: ClaimsInUse): string {
  return exposition([
    {
      name: 'dra_resource_claims_in_use',
      help: '[ALPHA] The number of ResourceClaims that are currently in use on the node, by driver name (driver_name label value) and across all drivers (special value <any> for driver_name). A claim with devices of several drivers counts for each of them, so the sum over drivers is not the number of claims.',
      type: 'gauge',
      samples: [[ANY_DRIVER, all] as const, ...byDriver].map(([driver_name, value]) => ({ labels: { driver_name }, value })),
    },
  ]);
}
