import { parseThresholds } from '../model/eviction/parse-thresholds.ts';
import { evictionReservation } from '../model/eviction-reservation.ts';
import { allocatableReservation, type Reserved, reservationFaults } from '../model/node-allocatable.ts';
import type { ResourceList } from '../model/node.ts';
import { reservedResources } from '../options/reserved-resources.ts';
import type { NodeParts } from '../ports/node-parts.ts';

export interface NodeReservations {
  /** Of the machine; empty where it could not be read. */
  readonly capacity: ResourceList;
  readonly reserved: Reserved;
}

/** Keeps from pods what the options say. Throws where that is more than there is (validateNodeAllocatable). */
export function nodeReservations({ options, node: { resources } }: Pick<NodeParts, 'options' | 'node'>): NodeReservations {
  const capacity = resources.capacity();
  const { thresholds } = parseThresholds(options);
  const reserved: Reserved = {
    ...reservedResources(options),
    eviction: options.allocatableIgnoresEviction ? {} : evictionReservation(thresholds, capacity),
  };
  const faults = reservationFaults(capacity, reserved).map(
    ({ name, reserved: amount, capacity: has }) =>
      `Resource ${JSON.stringify(name)} has a reservation of ${amount} but capacity of ${has}. Expected capacity >= reservation.`,
  );
  if (faults.length > 0) throw new Error(`invalid Node Allocatable configuration. ${faults.join(' ')}`);
  const nothing = { system: {}, kube: {}, eviction: {} };
  for (const by of ['system', 'kube', 'eviction'] as const)
    resources.reserve(by, allocatableReservation(capacity, { ...nothing, [by]: reserved[by] }));
  return { capacity, reserved };
}
