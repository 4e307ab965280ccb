import { hash } from 'node:crypto';
import { gzipSync } from 'node:zlib';

export interface Blob {
  readonly digest: string;
  readonly bytes: Buffer;
}
/** An image as a registry stores it (Docker schema 2). */
export interface BuiltImage {
  readonly config: Blob;
  readonly layers: readonly Blob[];
  readonly manifest: Blob;
  readonly mediaType: string;
}

const MANIFEST = 'application/vnd.docker.distribution.manifest.v2+json';
const CONFIG = 'application/vnd.docker.container.image.v1+json';
const LAYER = 'application/vnd.docker.image.rootfs.diff.tar.gzip';

/** An image whose layers hold one file each, named file-0, file-1, … */
export function anImage(files: readonly Buffer[], config: Readonly<Record<string, unknown>> = {}): BuiltImage {
  return anImageOfTars(
    files.map((content, i) => tarOf(`file-${i}`, content)),
    config,
  );
}

/** An image of these layers. */
export function anImageOfTars(tars: readonly Buffer[], config: Readonly<Record<string, unknown>> = {}): BuiltImage {
  const layers = tars.map((tar) => blob(gzipSync(tar, { level: 1 })));
  const configBlob = blob(
    Buffer.from(
      JSON.stringify({
        architecture: process.arch === 'arm64' ? 'arm64' : 'amd64',
        os: 'linux',
        config: { Cmd: ['/file-0'], ...config },
        rootfs: { type: 'layers', diff_ids: tars.map((tar) => blob(tar).digest) },
        history: tars.map(() => ({ created_by: 'test' })),
      }),
    ),
  );
  const manifest = blob(
    Buffer.from(
      JSON.stringify({
        schemaVersion: 2,
        mediaType: MANIFEST,
        config: { mediaType: CONFIG, size: configBlob.bytes.length, digest: configBlob.digest },
        layers: layers.map((l) => ({ mediaType: LAYER, size: l.bytes.length, digest: l.digest })),
      }),
    ),
  );
  return { config: configBlob, layers, manifest, mediaType: MANIFEST };
}

/** A list of images, as multi-platform ones are, that has one for this architecture alone. */
export function imageFor(architecture: string): BuiltImage {
  const image = anImage([Buffer.from('a file')]);
  const mediaType = 'application/vnd.docker.distribution.manifest.list.v2+json';
  const { digest, bytes } = image.manifest;
  const entry = { mediaType: MANIFEST, size: bytes.length, digest, platform: { architecture, os: 'linux' } };
  return { ...image, mediaType, manifest: blob(Buffer.from(JSON.stringify({ schemaVersion: 2, mediaType, manifests: [entry] }))) };
}

const blob = (bytes: Buffer): Blob => ({ digest: `sha256:${hash('sha256', bytes)}`, bytes });

/** A ustar archive of one file. */
export function tarOf(name: string, content: Buffer): Buffer {
  const header = Buffer.alloc(512);
  const octal = (value: number, length: number): string => `${value.toString(8).padStart(length - 1, '0')}\0`;
  header.write(name, 0);
  header.write(octal(0o644, 8), 100);
  header.write(octal(0, 8), 108);
  header.write(octal(0, 8), 116);
  header.write(octal(content.length, 12), 124);
  header.write(octal(0, 12), 136);
  header.write('        ', 148);
  header.write('0', 156);
  header.write('ustar\u000000', 257);
  header.write(
    octal(
      header.reduce((sum, byte) => sum + byte, 0),
      8,
    ),
    148,
  );
  return Buffer.concat([header, content, Buffer.alloc((512 - (content.length % 512)) % 512), Buffer.alloc(1024)]);
}
