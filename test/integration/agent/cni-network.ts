import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdir, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { testEndpoint } from '../../builders/docker-under-test.ts';
import { type AgentUnderTest, type Disposer } from './agent-under-test.ts';

const run = promisify(execFile);
const BIN_DIR = '/usr/lib/cni';

let serial = 0;

/** A network of CNI plugins for one agent: a bridge and a range of addresses of its own. Nothing of it is left after the test. */
export class CniUnderTest {
  readonly bridge: string;
  /** The range, without its last number. */
  readonly range: string;
  readonly #agent: AgentUnderTest;

  private constructor(agent: AgentUnderTest) {
    this.#agent = agent;
    const number = process.pid * 4 + ++serial;
    this.bridge = `rxt${number}`;
    this.range = `10.${200 + (number % 50)}.${(number >> 6) % 250}`;
  }

  static async prepare(test: Disposer, agent: AgentUnderTest): Promise<CniUnderTest> {
    for (const plugin of ['bridge', 'host-local', 'loopback', 'firewall', 'portmap']) {
      await stat(join(BIN_DIR, plugin)).catch((cause: unknown) => {
        throw new Error(`this test needs Debian's containernetworking-plugins in ${BIN_DIR}; hack/test.sh installs them`, { cause });
      });
    }
    const cni = new CniUnderTest(agent);
    await mkdir(cni.#confDir);
    test.after(async () => {
      await run('ip', ['link', 'del', cni.bridge]).catch(() => {});
      await rm(cni.#leaseDir, { recursive: true, force: true });
    });
    return cni;
  }

  get flags(): string[] {
    return ['--network-plugin=cni', `--cni-conf-dir=${this.#confDir}`, `--cni-bin-dir=${BIN_DIR}`, `--cni-cache-dir=${this.#cacheDir}`];
  }

  async writeConf(file: string, text: string): Promise<void> {
    await writeFile(join(this.#confDir, file), text);
  }

  /** Bridge with host-local, firewall (Docker drops what it has not allowed itself) and portmap. */
  async writeNetwork(): Promise<void> {
    const ipam = {
      type: 'host-local',
      dataDir: this.#leaseDir,
      ranges: [[{ subnet: `${this.range}.0/24` }]],
      routes: [{ dst: '0.0.0.0/0' }],
    };
    const bridge = { type: 'bridge', bridge: this.bridge, isGateway: true, hairpinMode: true, ipam };
    const firewall = { type: 'firewall', backend: 'iptables' };
    const portmap = { type: 'portmap', capabilities: { portMappings: true }, snat: true };
    await this.writeConf(
      '20-pods.conflist',
      JSON.stringify({ cniVersion: '1.0.0', name: 'rxlet-test', plugins: [bridge, firewall, portmap] }),
    );
  }

  /** Addresses that are taken. */
  async leases(): Promise<readonly string[]> {
    const entries = await readdir(join(this.#leaseDir, 'rxlet-test')).catch(() => []);
    return entries.filter((entry) => entry.startsWith(this.range)).sort();
  }

  /** What is there because of this network's pods, wherever a plugin or the agent may have put it. */
  async traces(): Promise<readonly string[]> {
    const files = await Promise.all(
      [join(this.#cacheDir, 'results'), join(this.#agent.rootDir, 'sandbox-networks')].map((dir) => readdir(dir).catch(() => [])),
    );
    const rules = (await run('iptables-save')).stdout.split('\n').filter((rule) => rule.includes(this.range));
    const ports = (await run('ip', ['-o', 'link', 'show', 'master', this.bridge])).stdout.split('\n').filter(Boolean);
    return [...(await this.leases()), ...files.flat(), ...rules, ...ports];
  }

  /** Waits until the agent has ended these pods, and sees that nothing is left of any. */
  async end(...names: string[]): Promise<void> {
    for (const name of names) await this.#agent.remove(name);
    for (const name of names) await this.#agent.gone(name);
    assert.deepEqual(await this.traces(), []);
  }

  /** What a command prints in a container. */
  async exec(container: string, ...command: string[]): Promise<string> {
    const { stdout } = await run('docker', ['--host', testEndpoint, 'exec', container, ...command]);
    return stdout.trim();
  }

  /** What a server answers to a container; it may need a moment to listen. */
  ask(container: string, url: string): Promise<string> {
    return this.exec(
      container,
      'sh',
      '-c',
      `for i in $(seq 20); do timeout 2 wget -qO- ${url} 2>/dev/null && exit; sleep 0.1; done; exit 1`,
    );
  }

  /** The container's address, as its own network namespace has it. */
  async address(container: string): Promise<string> {
    const text = await this.exec(container, 'ip', '-o', '-4', 'addr', 'show', 'dev', 'eth0');
    return /inet ([\d.]+)/.exec(text)?.[1] ?? '';
  }

  get #confDir(): string {
    return join(this.#agent.dir, 'cni-conf');
  }

  get #cacheDir(): string {
    return join(this.#agent.dir, 'cni-cache');
  }

  get #leaseDir(): string {
    return join(this.#agent.dir, 'cni-leases');
  }
}
