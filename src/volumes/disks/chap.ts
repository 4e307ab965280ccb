import { join } from 'node:path';
import { namesIn } from '../../base/names-in.ts';
import { readRegularFile } from '../../base/read-regular-file.ts';
import { writePrivateFile } from '../../base/write-private-file.ts';
import { endsOf } from './iscsi-disk.ts';

/** What a secret of type kubernetes.io/iscsi-chap has, by key. */
export type ChapValues = Readonly<Record<string, string>>;

const KEYS = ['username', 'password', 'username_in', 'password_in'];
const MAX_RECORD = 64 * 1024;
/** open-iscsi's AUTH_STR_MAX_LEN, with its end. */
const LONGEST_VALUE = 255;

/** Of who asks a portal which targets it has. */
export async function setDiscoveryChap(records: readonly string[], portal: string, secret: ChapValues): Promise<void> {
  const { address, port } = endsOf(portal);
  const files = await recordsIn(records, 'send_targets', async (root) => [[join(root, `${address},${port}`, 'st_config')]]);
  await setAll(files, 'discovery.sendtargets.auth', secret, records);
}

/** Of a session with a target. All records of it by that interface and portal have it. */
export async function setSessionChap(
  records: readonly string[],
  { iqn, portal, iface }: { readonly iqn: string; readonly portal: string; readonly iface: string },
  secret: ChapValues,
): Promise<void> {
  const { address, port } = endsOf(portal);
  const files = await recordsIn(records, 'nodes', async (root) => {
    const found = (await namesIn(join(root, iqn))).filter(
      (name) => name === `${address},${port}` || name.startsWith(`${address},${port},`),
    );
    // Where the target has no group the record is a file, otherwise one of a directory.
    return found.map((name) => [join(root, iqn, name, iface), join(root, iqn, name)]);
  });
  await setAll(files, 'node.session.auth', secret, records);
}

async function recordsIn(
  roots: readonly string[],
  kind: string,
  places: (root: string) => Promise<readonly (readonly string[])[]>,
): Promise<readonly (readonly string[])[]> {
  return (await Promise.all(roots.map((root) => places(join(root, kind))))).flat();
}

async function setAll(places: readonly (readonly string[])[], prefix: string, secret: ChapValues, roots: readonly string[]): Promise<void> {
  const values = new Map([[`${prefix}.authmethod`, 'CHAP'], ...KEYS.flatMap((key) => valueOf(`${prefix}.${key}`, secret))]);
  let written = 0;
  for (const alternatives of places) {
    for (const path of alternatives) {
      const text = await readRegularFile(path, MAX_RECORD).catch(() => undefined);
      if (text === undefined) continue;
      await writePrivateFile(path, withValues(text, values));
      written++;
      break;
    }
  }
  if (written > 0) return;
  // iscsiadm itself takes them as arguments alone, which everybody on the machine may read.
  throw new Error(
    `iscsi: CHAP needs the records of iscsiadm, and there are none of this target in ${roots.join(' or ')}: make one of these a link to where they are`,
  );
}

function valueOf(key: string, secret: ChapValues): readonly (readonly [string, string])[] {
  const value = secret[key] ?? '';
  if (value === '') return [];
  if (/[\r\n\0]/.test(value)) throw new Error(`iscsi: ${key} of the secret has a line break`);
  if (Buffer.byteLength(value) > LONGEST_VALUE) throw new Error(`iscsi: ${key} of the secret is longer than ${LONGEST_VALUE} bytes`);
  return [[key, value]];
}

/** A record of iscsiadm with these values in place of those that it has. */
export function withValues(text: string, values: ReadonlyMap<string, string>): string {
  const kept = text.split('\n').filter((line) => !values.has(line.split('=', 1)[0]?.trim() ?? ''));
  const end = kept.findIndex((line) => line.startsWith('# END RECORD'));
  const added = [...values].map(([key, value]) => `${key} = ${value}`);
  return kept.toSpliced(end < 0 ? kept.length : end, 0, ...added).join('\n');
}
