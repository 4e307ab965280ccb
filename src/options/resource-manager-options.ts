import type { CpuPolicyOptions } from '../model/cpu-policy-options.ts';
import type { DecidingGate } from './feature-gates/deciding-gates.ts';
import { truths } from './truths.ts';

type Texts = Readonly<Record<string, string>>;
type IsOn = (gate: DecidingGate) => boolean;

/** How a policy reads one of its options; throws with what is wrong. */
type Reader<T> = (text: string, name: string) => T;

const truth: Reader<boolean> = (text, name) => {
  const value = truths.get(text);
  if (value === undefined)
    throw new Error(`bad value for option ${JSON.stringify(name)}: ${JSON.stringify(text)} is neither true nor false`);
  return value;
};

/** The option, and the feature gate that it needs. */
const cpuOptions: ReadonlyMap<string, { readonly field: keyof CpuPolicyOptions; readonly gate?: DecidingGate }> = new Map([
  ['full-pcpus-only', { field: 'fullPcpusOnly' }],
  ['strict-cpu-reservation', { field: 'strictCpuReservation' }],
  ['prefer-align-cpus-by-uncorecache', { field: 'preferAlignCpusByUncoreCache' }],
  ['distribute-cpus-across-numa', { field: 'distributeCpusAcrossNuma', gate: 'CPUManagerPolicyBetaOptions' }],
  ['align-by-socket', { field: 'alignBySocket', gate: 'CPUManagerPolicyAlphaOptions' }],
  ['distribute-cpus-across-cores', { field: 'distributeCpusAcrossCores', gate: 'CPUManagerPolicyAlphaOptions' }],
]);

/** Two of these cannot be had together. */
const exclusive: readonly (readonly [string, string])[] = [
  ['full-pcpus-only', 'distribute-cpus-across-cores'],
  ['distribute-cpus-across-numa', 'distribute-cpus-across-cores'],
  ['prefer-align-cpus-by-uncorecache', 'distribute-cpus-across-cores'],
  ['prefer-align-cpus-by-uncorecache', 'distribute-cpus-across-numa'],
];

/** cpuManagerPolicyOptions (NewStaticPolicyOptions in pkg/kubelet/cm/cpumanager). Throws with what is wrong. */
export function cpuPolicyOptions(texts: Texts): CpuPolicyOptions {
  const isOn = (name: string): boolean => texts[name] !== undefined && truth(texts[name], name);
  return {
    fullPcpusOnly: isOn('full-pcpus-only'),
    strictCpuReservation: isOn('strict-cpu-reservation'),
    preferAlignCpusByUncoreCache: isOn('prefer-align-cpus-by-uncorecache'),
    distributeCpusAcrossNuma: isOn('distribute-cpus-across-numa'),
    alignBySocket: isOn('align-by-socket'),
    distributeCpusAcrossCores: isOn('distribute-cpus-across-cores'),
  };
}

/** What is wrong with cpuManagerPolicyOptions, a sentence each. */
export function cpuPolicyOptionFaults(texts: Texts, isOn: IsOn): readonly string[] {
  const faults = Object.entries(texts).flatMap(([name, text]) => {
    const known = cpuOptions.get(name);
    if (!known) return [`unknown CPU Manager Policy option: ${JSON.stringify(name)}`];
    if (known.gate !== undefined && !isOn(known.gate)) return [`option ${JSON.stringify(name)} needs the feature gate ${known.gate}`];
    return faultOf(() => truth(text, name));
  });
  if (faults.length > 0) return faults;
  const options = cpuPolicyOptions(texts);
  const isSet = (name: string): boolean => {
    const known = cpuOptions.get(name);
    return known !== undefined && options[known.field];
  };
  return exclusive
    .filter((both) => both.every(isSet))
    .map(([one, other]) => `static policy options ${one} and ${other} can not be used at the same time`);
}

/** topologyManagerPolicyOptions. */
export interface TopologyPolicyOptions {
  readonly preferClosestNumaNodes: boolean;
  /** More NUMA nodes than that are refused at start. */
  readonly maxAllowableNumaNodes: number;
}

/** The choices of NUMA nodes double with each: more than 8 has to be asked for (defaultMaxAllowableNUMANodes). */
const MAX_NUMA_NODES = 8;

const nodes: Reader<number> = (text, name) => {
  if (!/^[+-]?\d+$/.test(text))
    throw new Error(`unable to convert policy option to integer ${JSON.stringify(name)}: ${JSON.stringify(text)} is none`);
  if (Number(text) < MAX_NUMA_NODES)
    throw new Error(`the minimum value of ${JSON.stringify(name)} should not be less than ${MAX_NUMA_NODES}`);
  return Number(text);
};

/** topologyManagerPolicyOptions (NewPolicyOptions in pkg/kubelet/cm/topologymanager). Throws with what is wrong. */
export function topologyPolicyOptions(texts: Texts): TopologyPolicyOptions {
  const closest = 'prefer-closest-numa-nodes';
  const most = 'max-allowable-numa-nodes';
  const unknown = Object.keys(texts).find((name) => name !== closest && name !== most);
  if (unknown !== undefined) throw new Error(`unknown Topology Manager Policy option: ${JSON.stringify(unknown)}`);
  return {
    preferClosestNumaNodes: texts[closest] !== undefined && truth(texts[closest], closest),
    maxAllowableNumaNodes: texts[most] === undefined ? MAX_NUMA_NODES : nodes(texts[most], most),
  };
}

/** What is wrong with topologyManagerPolicyOptions, a sentence each. */
export const topologyPolicyOptionFaults = (texts: Texts): readonly string[] =>
  Object.entries(texts).flatMap(([name, text]) => faultOf(() => topologyPolicyOptions({ [name]: text })));

function faultOf(read: () => unknown): readonly string[] {
  try {
    read();
    return [];
  } catch (error) {
    return [error instanceof Error ? error.message : String(error)];
  }
}
