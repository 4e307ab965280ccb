import type { Contribution } from '../ports/contribution.ts';
import type { Boundary } from './boundary.ts';
import { boundPort } from './bound-port.ts';
import { boundServices } from './bound-services.ts';
import type { HiddenValues } from './hidden-values.ts';
import { contributionKinds } from './port-kinds.ts';
import { type RealOf, remembered } from './reality.ts';

/** What a capability contributes, on the outside of the boundary. */
export function boundContribution(
  boundary: Boundary,
  name: string,
  real: Contribution | undefined,
  realOf: RealOf,
  hidden: HiddenValues | undefined,
): Contribution {
  const bound = boundPort(boundary, name, contributionKinds(hidden), real);
  for (const key of ['pod', 'images', 'probes', 'hooks', 'volumeFiles'] as const) remembered([bound[key]], [real?.[key]], realOf);
  const services = boundServices(boundary, `${name}.services`, realOf, real && (() => real.services ?? []));
  return { ...bound, services, sources: remembered(bound.sources ?? [], real?.sources, realOf) };
}
