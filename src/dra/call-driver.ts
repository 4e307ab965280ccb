import { errorText } from '../base/error-text.ts';
import { printable } from '../base/printable.ts';
import type { ClaimEntry } from './claim-checkpoint.ts';
import type { ClaimToPrepare, DriverAnswer } from './dra-driver.ts';
import { checkedDevices, type PreparedDevice } from './prepared-device.ts';

/** Of a driver's own words. */
const MAX_WORDS = 1_000;

/**
 * Asks a driver about claims, and takes what it answers of each. Rejects in the kubelet's words with what failed of any; what did not fail is
 * taken all the same.
 */
export async function callDriver(
  method: 'NodePrepareResources' | 'NodeUnprepareResources',
  claims: readonly ClaimEntry[],
  ask: (claims: readonly ClaimToPrepare[]) => Promise<ReadonlyMap<string, DriverAnswer>>,
  take: (claim: ClaimEntry, devices: readonly PreparedDevice[]) => void,
): Promise<void> {
  const answers = await asked(method, claims, ask);
  const known = new Map(claims.map((claim) => [claim.uid, claim]));
  const faults = new Set<string>();
  for (const [uid, { error, devices }] of answers) {
    const claim = known.get(uid);
    if (claim === undefined) {
      // One of them says enough.
      if (faults.size === 0) faults.add(`${method} returned result for unknown claim UID ${words(uid)}`);
      continue;
    }
    known.delete(uid);
    const failed = (why: string): unknown => faults.add(`${method} failed for ResourceClaim ${claim.name}: ${words(why)}`);
    if (error !== '') {
      failed(error);
      continue;
    }
    try {
      take(claim, checkedDevices(devices));
    } catch (cause) {
      failed(errorText(cause));
    }
  }
  if (known.size > 0) faults.add(`${method} skipped ${known.size} ResourceClaims`);
  if (faults.size > 0) throw new Error([...faults].join('; '));
}

async function asked(
  method: string,
  claims: readonly ClaimEntry[],
  ask: (claims: readonly ClaimToPrepare[]) => Promise<ReadonlyMap<string, DriverAnswer>>,
): Promise<ReadonlyMap<string, DriverAnswer>> {
  try {
    return await ask(claims.map(({ namespace, uid, name }) => ({ namespace, uid, name })));
  } catch (cause) {
    // Of gRPC's own errors the method is part.
    const text = errorText(cause);
    throw new Error(words(text.startsWith(method) ? text : `${method}: ${text}`), { cause });
  }
}

function words(text: string): string {
  const line = printable(text);
  return line.length > MAX_WORDS ? `${line.slice(0, MAX_WORDS)}…` : line;
}
