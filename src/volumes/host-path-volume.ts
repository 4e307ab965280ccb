import { constants } from 'node:fs';
import { mkdir, open, stat } from 'node:fs/promises';
import { errorCode } from '../base/error-code.ts';
import { leadsToServer } from '../base/leads-to-server.ts';
import { presentPart, realPath } from '../base/real-path.ts';
import type { Touch } from '../base/touch.ts';
import type { HostTask } from '../ports/host-files.ts';
import { mountTable } from './mount-table.ts';
import { volumeKind } from './volume-kind.ts';

/** Something of the node itself, checked and where asked for made when the pod begins; never removed (pkg/volume/hostpath). */
export const hostPathVolume = volumeKind('hostPath', {
  plugin: 'kubernetes.io~host-path',
  setUp: async ({ path, type = '' }, { readOnly, hostFiles }, signal) => {
    if (path.split('/').includes('..')) throw new Error(`invalid HostPath \`${path}\`: must not contain '..'`);
    // Without a type nothing is asked, but that a server's file system answers: the engine would hang in one that does not.
    if (type !== '' || leadsToServer(path, await mountTable())) await hostFiles.run(checkHostPath, { path, type }, signal);
    return { hostPath: path, readOnly, isHosts: true };
  },
});

/** That something of the node is of a type, or is made so. */
export const checkHostPath: HostTask<{ readonly path: string; readonly type: string }, void> = {
  name: 'checkHostPath',
  run: ({ path, type }, touch) => checkType(path, type, touch),
};

type FileType = 'Directory' | 'File' | 'Socket' | 'CharDevice' | 'BlockDevice';

const words: Readonly<Record<FileType, string>> = {
  Directory: 'a directory',
  File: 'a file',
  Socket: 'a socket file',
  CharDevice: 'a character device',
  BlockDevice: 'a block device',
};

/** A pipe that a container has put there meanwhile is not waited for: its file system would be taken for one that does not answer. */
const APPENDING = constants.O_WRONLY | constants.O_CREAT | constants.O_APPEND | constants.O_NONBLOCK;

/** Links are followed. */
async function checkType(path: string, type: string, touch: Touch): Promise<void> {
  if (type === '') {
    await fileType(path, touch);
    return;
  }
  const wanted = type === 'DirectoryOrCreate' ? 'Directory' : type === 'FileOrCreate' ? 'File' : type;
  if (!isFileType(wanted)) throw new Error(`${type} is an invalid volume type`);
  const found = await fileType(path, touch);
  const makes = found === undefined && type.endsWith('OrCreate');
  if (makes) {
    const { real } = await presentPart(path, touch);
    if (wanted === 'Directory') await touch(real, () => mkdir(path, { recursive: true, mode: 0o755 }));
    else await (await touch(real, () => open(path, APPENDING, 0o644))).close();
  } else if (found !== wanted) throw new Error(`hostPath type check failed: ${path} is not ${words[wanted]}`);
}

const isFileType = (text: string): text is FileType => Object.hasOwn(words, text);

async function fileType(path: string, touch: Touch): Promise<FileType | 'other' | undefined> {
  try {
    const real = await realPath(path, touch);
    const found = await touch(real, () => stat(real));
    if (found.isDirectory()) return 'Directory';
    if (found.isFile()) return 'File';
    if (found.isSocket()) return 'Socket';
    if (found.isCharacterDevice()) return 'CharDevice';
    return found.isBlockDevice() ? 'BlockDevice' : 'other';
  } catch (error) {
    if (errorCode(error) === undefined) throw error;
    return undefined;
  }
}
