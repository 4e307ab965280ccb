import type { Given } from '../ports/contribution.ts';
import type { Staged } from '../ports/staged.ts';
import type { Boundary } from './boundary.ts';
import { boundPorts } from './bound-port.ts';
import { serviceKinds } from './port-kinds.ts';
import { type RealOf, remembered } from './reality.ts';

/** Services that run outside, and start and are ready inside. */
export function boundServices(
  boundary: Boundary,
  name: string,
  realOf: RealOf,
  real: (() => readonly Staged[]) | undefined,
): readonly Staged[] {
  let services: readonly Staged[] = [];
  const ports = boundPorts(boundary, name, serviceKinds, real && (() => (services = real())));
  return remembered(
    ports.map((port, index): Staged => ({
      ...port,
      run: (signal, given) =>
        boundary.ask(`${name}[${index}].run`, [signal], async () => services[index]?.run(signal, givenOutside(given, realOf))),
    })),
    services,
    realOf,
  );
}

/** What all capabilities contribute, as it is given to what lies outside. */
function givenOutside(given: Given, realOf: RealOf): Given {
  const real = <T extends object>(each: T): T => (realOf.get(each) as T | undefined) ?? each;
  return {
    ...given,
    sources: given.sources.map(real),
    participants: given.participants.map(({ name, pod }) => ({ name, pod: real(pod) })),
    services: given.services.map(real),
    images: real(given.images),
    probes: real(given.probes),
    hooks: real(given.hooks),
    volumeFiles: real(given.volumeFiles),
  };
}
