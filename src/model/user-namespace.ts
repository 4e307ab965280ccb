import { isJsonObject, type JsonObject } from '../base/json-object.ts';
import { goJsonSyntaxError } from './go-json-syntax.ts';
import { quote } from './go-text.ts';

/** Ids of this machine, of users and groups alike, that the ids of a pod from 0 on stand for. */
export interface IdRange {
  readonly first: number;
  readonly length: number;
}

/** All ranges have this length, or a multiple of it. */
const UNIT = 65_536;

/** The ranges that pods may have: the number of the first, in ranges from id 0 on, and how many there are. */
export interface IdSlots {
  readonly offset: number;
  readonly slots: number;
}

/** Throws for ids that cannot be (pkg/kubelet/userns MakeUserNsManager). */
export function idSlots({ first, length }: IdRange, idsPerPod: number, maxPods: number): IdSlots {
  if (idsPerPod % UNIT !== 0) throw new Error(`kubelet user namespace length ${idsPerPod} is not a multiple of ${UNIT}`);
  if (first % idsPerPod !== 0) throw new Error(`kubelet user assigned ID ${first} is not a multiple of ${idsPerPod}`);
  // The node's own ids would be among them.
  if (first < idsPerPod) throw new Error(`kubelet user assigned ID ${first} must be greater or equal to ${idsPerPod}`);
  if (length % idsPerPod !== 0) throw new Error(`kubelet user assigned IDs length ${length} is not a multiple of ${idsPerPod}`);
  if (length / idsPerPod < maxPods) throw new Error(`kubelet user assigned IDs are not enough to support ${maxPods} pods`);
  return { offset: first / idsPerPod, slots: length / idsPerPod };
}

/** Why a pod cannot have ids of its own by the handler that runs it; undefined: it can (pkg/kubelet/userns GetOrCreateUserNamespaceMappings). */
export function handlerWithoutUsers(
  handlers: readonly { readonly name: string; readonly userNamespaces: boolean }[],
  handler: string,
): string | undefined {
  const found = handlers.find(({ name }) => name === handler);
  if (found?.userNamespaces) return undefined;
  const refusal = `can't set \`spec.hostUsers: false\`, RuntimeClass handler ${quote(handler)} does not support user namespaces`;
  return found === undefined ? `${refusal}: the handler ${quote(handler)} is not known` : refusal;
}

/** As a kubelet keeps it in the file `userns` of the pod's directory. */
export function savedIds({ first: hostId, length }: IdRange): JsonObject {
  const mappings = [{ hostId, containerId: 0, length }];
  return { uidMappings: mappings, gidMappings: mappings };
}

/** What a kubelet reads back. Throws for what it would not have written (pkg/kubelet/userns parseUserNsFileAndRecord). */
export function readSavedIds(text: string): IdRange {
  const syntax = goJsonSyntaxError(text);
  if (syntax !== undefined) throw new Error(`invalid user namespace mappings file: ${syntax}`);
  return savedIdsIn(JSON.parse(text));
}

/** As `readSavedIds`, of what has been parsed. */
export function savedIdsIn(json: unknown): IdRange {
  const invalid = (why: string): Error => new Error(`invalid user namespace configuration: ${why}`);
  const { uidMappings, gidMappings } = isJsonObject(json) ? json : {};
  const [users, groups] = [mappingsIn(uidMappings), mappingsIn(gidMappings)];
  const [user] = users;
  if (user === undefined || users.length !== 1) throw invalid('no more than one mapping allowed.');
  const [group] = groups;
  if (groups.length !== 1 || group?.hostId !== user.hostId || group.containerId !== user.containerId || group.length !== user.length)
    throw invalid('GID and UID mappings should be identical.');
  if (user.containerId !== 0) throw invalid('UID 0 must be mapped');
  return { first: user.hostId, length: user.length };
}

interface Mapping {
  readonly hostId: number;
  readonly containerId: number;
  readonly length: number;
}

function mappingsIn(value: unknown): readonly Mapping[] {
  if (!Array.isArray(value)) return [];
  const number = (each: unknown): number => (typeof each === 'number' && Number.isInteger(each) && each >= 0 && each < 2 ** 32 ? each : 0);
  return value.filter(isJsonObject).map(({ hostId, containerId, length }) => ({
    hostId: number(hostId),
    containerId: number(containerId),
    length: number(length),
  }));
}
