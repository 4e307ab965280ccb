import { featureGates, type GivenGates } from '../options/feature-gates/feature-gates.ts';

/**
 * What this agent does of the features that Kubernetes 1.36 has nodes declare (component-helpers/nodedeclaredfeatures); each is the name of
 * its gate. Control planes send a node that declares none of it nothing that wants it.
 */
const done = [
  // Exec, attach and port-forward come as WebSockets, and are not turned into SPDY on the way.
  'ExtendWebSocketsToKubelet',
  // API servers refuse init containers other resources where it is not declared. Not so for pods as a whole: no cgroup holds them to theirs.
  'InPlacePodVerticalScalingInitContainers',
  // Pods with a rule of this action get a node only where it is declared.
  'RestartAllContainersOnContainerExits',
] as const;

/** Node.status.declaredFeatures, sorted; undefined where nodes declare nothing. */
export function declaredFeatures(given: GivenGates): readonly string[] | undefined {
  const gates = featureGates(given);
  return gates.isOn('NodeDeclaredFeatures') ? done.filter((name) => gates.isOn(name)).toSorted() : undefined;
}
