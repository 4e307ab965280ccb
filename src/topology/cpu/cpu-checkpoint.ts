import { isJsonObject } from '../../base/json-object.ts';
import { type CpuSet, formatCpuSet, parseCpuSet } from '../../model/cpu-set.ts';
import type { PodUid } from '../../model/pod.ts';
import { checkpointSum, ofMap } from '../../model/checkpoint-sum.ts';
import type { CpuAssignments } from './cpu-allocations.ts';

type Texts = Readonly<Record<string, string>>;

/** cpu_manager_state as the kubelet of 1.36 writes it, and all since 1.18 (CPUManagerCheckpointV2 in pkg/kubelet/cm/cpumanager/state). */
export interface CpuCheckpoint {
  readonly policyName: string;
  readonly defaultCpuSet: string;
  /** By pod's uid and container's name; absent: none. */
  readonly entries?: Readonly<Record<string, Texts>>;
  readonly checksum: number;
}

/** The container's pod and name, by its id; undefined: there is none. */
export type FindContainer = (id: string) => { readonly uid: PodUid; readonly name: string } | undefined;

const POLICY = 'static';

export function cpuCheckpoint({ shared, exclusive }: CpuAssignments): CpuCheckpoint {
  const ofPod = (containers: ReadonlyMap<string, CpuSet>): Texts =>
    Object.fromEntries([...containers].map(([name, cpus]) => [name, formatCpuSet(cpus)]));
  const entries = Object.fromEntries([...exclusive].map(([uid, containers]) => [uid, ofPod(containers)]));
  const content = { policyName: POLICY, defaultCpuSet: formatCpuSet(shared) };
  const checksum = sumOf(content, 'map[string]map[string]string', ofMap(entries, ofMap));
  return { ...content, ...(exclusive.size > 0 && { entries }), checksum };
}

/**
 * What a checkpoint of the static policy says, also one from before 1.18, which names containers by their ids. Undefined: it is one of an empty
 * state. Throws with what is wrong: it is damaged, of another policy, or of another kind.
 */
export function readCpuCheckpoint(json: unknown, find: FindContainer): CpuAssignments | undefined {
  if (!isJsonObject(json)) throw new Error('it is no JSON object');
  const { policyName = '', defaultCpuSet = '', entries, checksum = 0 } = json;
  if (typeof policyName !== 'string' || typeof defaultCpuSet !== 'string') throw new Error('policyName and defaultCpuSet have to be texts');
  const content = { policyName, defaultCpuSet };
  const given = entries ?? {};
  if (!isJsonObject(given)) throw new Error('entries has to be an object');
  const [byPod, byId] = [textsOfPods(given), texts(given)];
  const sums = [
    ...(byPod ? [sumOf(content, 'map[string]map[string]string', ofMap(byPod, ofMap))] : []),
    ...(byId ? [sumOf(content, 'map[string]string', ofMap(byId))] : []),
  ];
  if (sums.length === 0) throw new Error('entries has to hold texts by pod and container');
  // One without a checksum is of the oldest kubelets.
  if (checksum !== 0 && !sums.some((sum) => sum === checksum))
    throw new Error(`checkpoint is corrupted: its checksum is not ${String(checksum)}`);
  if (policyName !== POLICY)
    throw new Error(`configured policy "${POLICY}" differs from state checkpoint policy ${JSON.stringify(policyName)}`);
  const exclusive = byPod ? assignedOf(byPod) : assignedOf(byContainer(byId ?? {}, find));
  const shared = setOf(defaultCpuSet, 'default cpu set');
  return shared.size === 0 && exclusive.size === 0 ? undefined : { shared, exclusive };
}

const sumOf = ({ policyName, defaultCpuSet }: Pick<CpuCheckpoint, 'policyName' | 'defaultCpuSet'>, type: string, entries: string): number =>
  checkpointSum('CPUManagerCheckpoint', [
    ['PolicyName', 'string', policyName],
    ['DefaultCPUSet', 'string', defaultCpuSet],
    ['Entries', type, entries],
  ]);

function assignedOf(entries: Readonly<Record<string, Texts>>): CpuAssignments['exclusive'] {
  const exclusive = new Map<PodUid, ReadonlyMap<string, CpuSet>>();
  for (const [uid, containers] of Object.entries(entries)) {
    const own = Object.entries(containers).map(
      ([name, text]) => [name, setOf(text, 'cpuset', ` for container ${JSON.stringify(name)} in pod ${JSON.stringify(uid)}`)] as const,
    );
    if (own.length > 0) exclusive.set(uid as PodUid, new Map(own));
  }
  return exclusive;
}

function byContainer(entries: Texts, find: FindContainer): Readonly<Record<string, Texts>> {
  const pods = new Map<PodUid, Record<string, string>>();
  for (const [id, text] of Object.entries(entries)) {
    const found = find(id);
    if (!found) throw new Error(`containerID '${id}' not found in initial containers list`);
    pods.set(found.uid, { ...pods.get(found.uid), [found.name]: text });
  }
  return Object.fromEntries(pods);
}

function setOf(text: string, what: string, where = ''): CpuSet {
  try {
    return parseCpuSet(text);
  } catch (cause) {
    throw new Error(`could not parse ${what} ${JSON.stringify(text)}${where}`, { cause });
  }
}

/** Undefined: there is something else within. */
function texts(given: Readonly<Record<string, unknown>>): Texts | undefined {
  const all = Object.entries(given).flatMap(([name, value]) => (typeof value === 'string' ? [[name, value] as const] : []));
  return all.length === Object.keys(given).length ? Object.fromEntries(all) : undefined;
}

function textsOfPods(given: Readonly<Record<string, unknown>>): Readonly<Record<string, Texts>> | undefined {
  const all = Object.entries(given).flatMap(([uid, value]) => {
    const own = isJsonObject(value) ? texts(value) : undefined;
    return own ? [[uid, own] as const] : [];
  });
  return all.length === Object.keys(given).length ? Object.fromEntries(all) : undefined;
}
