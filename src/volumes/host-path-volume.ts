import { mkdir, open, stat } from 'node:fs/promises';
import { volumeKind } from './volume-kind.ts';

/** Something of the node itself, checked and where asked for made when the pod begins; never removed (pkg/volume/hostpath). */
export const hostPathVolume = volumeKind('hostPath', {
  plugin: 'kubernetes.io~host-path',
  setUp: async ({ path, type = '' }, { readOnly }) => {
    if (path.split('/').includes('..')) throw new Error(`invalid HostPath \`${path}\`: must not contain '..'`);
    await checkType(path, type);
    return { hostPath: path, readOnly };
  },
});

type FileType = 'Directory' | 'File' | 'Socket' | 'CharDevice' | 'BlockDevice';

const words: Readonly<Record<FileType, string>> = {
  Directory: 'a directory',
  File: 'a file',
  Socket: 'a socket file',
  CharDevice: 'a character device',
  BlockDevice: 'a block device',
};

/** Links are followed. */
async function checkType(path: string, type: string): Promise<void> {
  if (type === '') return;
  const wanted = type === 'DirectoryOrCreate' ? 'Directory' : type === 'FileOrCreate' ? 'File' : type;
  if (!isFileType(wanted)) throw new Error(`${type} is an invalid volume type`);
  const found = await fileType(path);
  if (found === undefined && type === 'DirectoryOrCreate') await mkdir(path, { recursive: true, mode: 0o755 });
  else if (found === undefined && type === 'FileOrCreate') await (await open(path, 'a', 0o644)).close();
  else if (found !== wanted) throw new Error(`hostPath type check failed: ${path} is not ${words[wanted]}`);
}

const isFileType = (text: string): text is FileType => Object.hasOwn(words, text);

async function fileType(path: string): Promise<FileType | 'other' | undefined> {
  try {
    const found = await stat(path);
    if (found.isDirectory()) return 'Directory';
    if (found.isFile()) return 'File';
    if (found.isSocket()) return 'Socket';
    if (found.isCharacterDevice()) return 'CharDevice';
    return found.isBlockDevice() ? 'BlockDevice' : 'other';
  } catch {
    return undefined;
  }
}
