import { KUBERNETES_RELEASE } from '../../model/kubernetes-release.ts';
import type { Settings } from '../decoding/settings.ts';
import { featureGates, type GivenGates } from '../feature-gates/feature-gates.ts';
import { amounts } from './amounts.ts';
import { CheckedSettings } from './checked-settings.ts';
import { containers } from './containers.ts';
import { images } from './images.ts';
import { logging } from './logging.ts';
import { memory } from './memory.ts';
import { node, userNamespaces } from './node.ts';
import { nodeAllocatable } from './node-allocatable.ts';
import { observability } from './observability.ts';
import { processors } from './processors.ts';
import { shutdown } from './shutdown.ts';

/** What the program can do that is started with the settings. */
export interface ProgramFacts {
  readonly logFormats: readonly string[];
  /** "1.35" */
  readonly previousRelease: string;
  readonly onLinux: boolean;
}

const thisProgram: ProgramFacts = {
  logFormats: ['text', 'json'],
  previousRelease: `${KUBERNETES_RELEASE.major}.${KUBERNETES_RELEASE.minor - 1}`,
  onLinux: true,
};

/**
 * What is wrong with complete settings, word for word as a kubelet of 1.36 has it (pkg/kubelet/apis/config/validation): a sentence each, by
 * topic. runOnce, which Kubernetes refuses by now, goes on here; so does cgroup v1, unless failCgroupV1 is set.
 */
export function kubeletConfigurationFaults(settings: Settings, given: GivenGates, program: ProgramFacts = thisProgram): readonly string[] {
  const gates = featureGates(given);
  if (gates.faults.length > 0) return gates.faults;
  const rules = [
    amounts,
    images,
    node,
    nodeAllocatable,
    processors,
    memory,
    shutdown,
    containers,
    logging(program.logFormats),
    observability(program.previousRelease),
    ...(program.onLinux ? [userNamespaces] : []),
  ];
  const checked = new CheckedSettings(settings, gates);
  return rules.flatMap((rule) => rule(checked)).filter((fault) => typeof fault === 'string');
}
