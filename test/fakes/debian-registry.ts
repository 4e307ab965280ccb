import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, rename, rm, rmdir, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Blob, BuiltImage } from '../builders/an-image.ts';

/** A real registry: the program of Debian's package docker-registry, on a free port, with files of its own. */
export class DebianRegistry {
  /** Who may use a registry that was started with `closed`. */
  static readonly credentials = { username: 'ann', password: 'open-sesame' };
  /** bcrypt of that password, as htpasswd -B writes it. */
  static readonly #htpasswd = 'ann:$2y$04$20IClYTV62R8w.MTDUaQZOtMVlkfx7PyXlVmzWc5Z4AnGcD8mBKxC\n';

  readonly host: string;
  readonly #process: ChildProcess;
  readonly #dir: string;
  readonly #closed: boolean;

  static async start({ closed = false }: { readonly closed?: boolean } = {}): Promise<DebianRegistry> {
    const dir = await mkdtemp(join(tmpdir(), 'registry-'));
    const host = `127.0.0.1:${await freePort()}`;
    await writeFile(join(dir, 'htpasswd'), DebianRegistry.#htpasswd);
    const auth = closed ? `auth:\n  htpasswd:\n    realm: test\n    path: ${dir}/htpasswd\n` : '';
    const config = `version: 0.1\nstorage:\n  filesystem:\n    rootdirectory: ${dir}/data\nhttp:\n  addr: ${host}\n${auth}`;
    await writeFile(join(dir, 'config.yml'), config);
    const process = spawn('docker-registry', ['serve', join(dir, 'config.yml')], { stdio: ['ignore', 'ignore', 'pipe'] });
    await listening(process);
    return new DebianRegistry(host, process, dir, closed);
  }

  private constructor(host: string, process: ChildProcess, dir: string, closed: boolean) {
    this.host = host;
    this.#process = process;
    this.#dir = dir;
    this.#closed = closed;
  }

  /** Answers the image's full name. */
  async push(repository: string, tag: string, image: BuiltImage): Promise<string> {
    for (const blob of [image.config, ...image.layers]) await this.#pushBlob(repository, blob);
    const response = await this.#send(
      'PUT',
      `http://${this.host}/v2/${repository}/manifests/${tag}`,
      image.manifest.bytes,
      image.mediaType,
    );
    if (response.status !== 201) throw new Error(`PUT manifest: ${response.status} ${await response.text()}`);
    return `${this.host}/${repository}:${tag}`;
  }

  /** Takes connections and answers nothing, until `thaw`. */
  freeze(): void {
    this.#process.kill('SIGSTOP');
  }

  thaw(): void {
    this.#process.kill('SIGCONT');
  }

  /** Its disk fails where the tag is: 500 to whoever asks, until `heal`. */
  async spoil(repository: string, tag: string): Promise<{ readonly heal: () => Promise<void> }> {
    const link = join(this.#dir, 'data/docker/registry/v2/repositories', repository, '_manifests/tags', tag, 'current/link');
    await rename(link, `${link}.away`);
    await mkdir(link);
    return {
      heal: async () => {
        await rmdir(link);
        await rename(`${link}.away`, link);
      },
    };
  }

  async stop(): Promise<void> {
    this.thaw();
    this.#process.kill();
    if (this.#process.exitCode === null && this.#process.signalCode === null) await once(this.#process, 'exit');
    await rm(this.#dir, { recursive: true });
  }

  async #pushBlob(repository: string, { digest, bytes }: Blob): Promise<void> {
    const begun = await this.#send('POST', `http://${this.host}/v2/${repository}/blobs/uploads/`);
    const upload = new URL(begun.headers.get('location') ?? '', `http://${this.host}`);
    upload.searchParams.set('digest', digest);
    const response = await this.#send('PUT', upload.href, bytes);
    if (response.status !== 201) throw new Error(`PUT blob: ${response.status} ${await response.text()}`);
  }

  #send(method: string, url: string, body?: Buffer, type = 'application/octet-stream'): Promise<Response> {
    const { username, password } = DebianRegistry.credentials;
    const authorization = `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`;
    const headers = { 'Content-Type': type, ...(this.#closed ? { Authorization: authorization } : {}) };
    return fetch(url, { method, headers, ...(body ? { body: new Uint8Array(body) } : {}) });
  }
}

/** Resolves when the program says that it listens; rejects with its own words when it ends instead, or is not installed. */
async function listening(process: ChildProcess): Promise<void> {
  const said: string[] = [];
  if (process.stderr === null) throw new Error('no standard error');
  const lines = createInterface({ input: process.stderr });
  await new Promise<void>((resolve, reject) => {
    process.once('error', (cause) => reject(new Error('docker-registry (a Debian package) does not start', { cause })));
    process.once('exit', () => reject(new Error(`docker-registry ended: ${said.join('\n')}`)));
    lines.on('line', (line) => {
      said.push(line);
      if (line.includes('listening on')) resolve();
    });
  });
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  if (address === null || typeof address === 'string') throw new Error('no port');
  return address.port;
}
