import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseLogTime } from '../../../src/engines/common/logs/log-time.ts';
import { numberedLogs } from '../../../src/engines/common/logs/rotated-logs.ts';
import { readLog } from '../../../src/engines/common/logs/read-log.ts';
import { logSinceMs } from '../../../src/model/log-since.ts';
import type { LogOptions } from '../../../src/ports/container-access.ts';

interface Input {
  readonly file: string;
  readonly now: string;
  readonly options: {
    readonly tailLines?: number;
    readonly sinceSeconds?: number;
    readonly sinceTime?: string;
    readonly limitBytes?: number;
    readonly timestamps?: boolean;
  };
}

const msOf = (text: string | null | undefined): number | undefined => (text ? parseLogTime(text)?.atMs : undefined);

export async function run({ file, now, options: { sinceSeconds, sinceTime, tailLines, limitBytes, timestamps } }: Input): Promise<unknown> {
  const sinceMs = logSinceMs({ sinceSeconds: sinceSeconds ?? undefined, sinceTimeMs: msOf(sinceTime) }, msOf(now) ?? 0);
  const options: LogOptions = {
    follow: false,
    timestamps: timestamps === true,
    ...(typeof tailLines === 'number' && { tailLines }),
    ...(typeof limitBytes === 'number' && { limitBytes }),
    ...(sinceMs !== undefined && { sinceMs }),
  };
  const directory = await mkdtemp(join(tmpdir(), 'rxlet-vectors-'));
  const path = join(directory, '0.log');
  const written = { stdout: '', stderr: '' };
  try {
    await writeFile(path, file);
    for await (const { stream, bytes } of readLog(path, numberedLogs, options, undefined, new AbortController().signal)) {
      written[stream] += Buffer.from(bytes).toString('latin1');
    }
    return utf8(written);
  } catch (error) {
    return { ...utf8(written), error: (error instanceof Error ? error.message : String(error)).replaceAll(path, 'FILE') };
  } finally {
    await rm(directory, { recursive: true });
  }
}

/** UTF-8 beyond ASCII, one character a byte. */
const character =
  /([\xc2-\xdf]|\xe0[\xa0-\xbf]|[\xe1-\xef][\x80-\xbf]|\xf0[\x90-\xbf][\x80-\xbf]|[\xf1-\xf4][\x80-\xbf]{2})[\x80-\xbf]|[\x80-\xff]/g;

/** Pieces may be cut within a character: in the suite each of its bytes becomes a replacement character. */
const text = (latin1: string): string =>
  Buffer.from(
    latin1.replace(character, (bytes) => (bytes.length > 1 ? bytes : '\xef\xbf\xbd')),
    'latin1',
  ).toString();

const utf8 = ({ stdout, stderr }: { readonly stdout: string; readonly stderr: string }): object => ({
  stdout: text(stdout),
  stderr: text(stderr),
});
