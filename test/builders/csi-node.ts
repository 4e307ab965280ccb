import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { BehaviorSubject } from 'rxjs';
import type { Clock } from '../../src/base/clock.ts';
import { silentLogger, type Logger } from '../../src/base/logger.ts';
import { systemClock } from '../../src/base/clock.ts';
import { tellGrown } from '../../src/csi/claim-growth.ts';
import { CsiDrivers } from '../../src/csi/csi-drivers.ts';
import { KnownVolumes } from '../../src/csi/known-volumes.ts';
import { NodeVolumes } from '../../src/csi/node-volumes.ts';
import { Unstager } from '../../src/csi/unstager.ts';
import { VolumeCalls } from '../../src/csi/volume-calls.ts';
import { VolumeObjects } from '../../src/csi/volume-objects.ts';
import { attachmentName, CsiPaths, uniqueVolumeName } from '../../src/csi/volume-paths.ts';
import type { Node } from '../../src/model/node.ts';
import type { Pod } from '../../src/model/pod.ts';
import type { CsiSource, CsiVolumeTask } from '../../src/ports/csi-volumes.ts';
import type { PersistentVolume, PersistentVolumeClaim } from '../../src/ports/claim-reader.ts';
import { RecordedHappenings } from '../fakes/recorded-happenings.ts';
import { FakeKubeApi } from '../fakes/fake-kube-api.ts';
import { aPod } from './a-pod.ts';

export const CSI = 'csi.example.com';
const token = `a.${Buffer.from('{"exp":1770000000}').toString('base64url')}.c`;

/** The CSI volumes of a node "n1" with an API of its own; `restart` is another process that finds its disk. */
export class CsiNodeUnderTest implements AsyncDisposable {
  readonly api = new FakeKubeApi();
  readonly rootDir: string;
  readonly nodes = new BehaviorSubject<Node | undefined>(undefined);
  readonly clock: Clock;
  readonly log: Logger;
  readonly happenings = new RecordedHappenings();
  /** "DIRECTORY GROUP" of each volume that was given to a group. */
  readonly given: string[] = [];
  /** Comes before each effect of this process, and of those after it. */
  point: (effect: string) => Promise<void> = async () => {};
  /** How files of containers are labelled by default; undefined: SELinux is off. */
  fileContext: string | undefined;
  drivers: CsiDrivers;
  known: KnownVolumes;
  volumes: NodeVolumes;
  unstager: Unstager;
  readonly #stops: AbortController[] = [];

  static async make({
    clock = systemClock,
    log = silentLogger,
  }: { readonly clock?: Clock; readonly log?: Logger } = {}): Promise<CsiNodeUnderTest> {
    return new CsiNodeUnderTest(await mkdtemp(join(tmpdir(), 'rxlet-csi-')), clock, log);
  }

  private constructor(rootDir: string, clock: Clock, log: Logger) {
    this.rootDir = rootDir;
    this.clock = clock;
    this.log = log;
    ({ drivers: this.drivers, known: this.known, volumes: this.volumes, unstager: this.unstager } = this.#process());
  }

  #process(): Pick<CsiNodeUnderTest, 'drivers' | 'known' | 'volumes' | 'unstager'> {
    const { clock, log, api, nodes } = this;
    const clients = {
      main: api.door('main'),
      events: api.door('e'),
      heartbeat: api.door('h'),
      reviews: api.door('r'),
      informer: api.informer,
    };
    const cluster = { exists: true, clients, node: () => nodes.value, nodeChanges: nodes };
    const drivers = new CsiDrivers({ clock, random: () => 0, log, tell: this.happenings.tell });
    const paths = new CsiPaths(this.rootDir);
    const known = new KnownVolumes(paths);
    const objects = new VolumeObjects({ cluster, nodeName: 'n1', clock, tokens: { get: async () => token } });
    const volumes: NodeVolumes = new NodeVolumes({
      clock,
      tell: this.happenings.tell,
      drivers,
      paths,
      nodeName: 'n1',
      known,
      objects,
      calls: async () => new VolumeCalls(objects),
      grown: (task, signal) => tellGrown(task, clients.main, signal),
      idle: () => unstager.look(),
      fileContext: async () => this.fileContext,
      before: async (effect) => {
        await this.point(effect);
        // Of a process that was killed meanwhile nothing goes on.
        if (drivers !== this.drivers) await new Promise(() => {});
      },
    });
    const unstager = new Unstager({ known, volumes, drivers, clock, log });
    return { drivers, known, volumes, unstager };
  }

  /** Ends this process where it stands, and begins with what it left on the disk. */
  async restart(): Promise<void> {
    this.drivers.close();
    this.end();
    // What was under way when it was killed never ends.
    ({ drivers: this.drivers, known: this.known, volumes: this.volumes, unstager: this.unstager } = this.#process());
    await this.known.read(this.log);
  }

  /** What takes back what no pod has begins. */
  start(): void {
    const stop = new AbortController();
    this.#stops.push(stop);
    void this.unstager.run(stop.signal);
  }

  end(): void {
    for (const stop of this.#stops.splice(0)) stop.abort(new Error('killed'));
  }

  task(pod: Pod, name: string, source: CsiSource, readOnly = false): CsiVolumeTask {
    return {
      pod,
      name,
      volume: name,
      source,
      readOnly,
      giveToGroup: async (directory, fsGroup) => void this.given.push(`${directory} ${fsGroup}`),
    };
  }

  /** The volume of a claim "data" and the claim, bound, attached and in use. */
  claimed(spec: PersistentVolume['spec'] = {}, status: PersistentVolumeClaim['status'] = {}): CsiSource {
    const handle = spec?.csi?.volumeHandle ?? 'handle-1';
    this.attach(handle);
    const csi = { driver: CSI, volumeHandle: handle, ...spec?.csi };
    return {
      persistent: { metadata: { name: 'pv-1' }, spec: { accessModes: ['ReadWriteOnce'], ...spec, csi } },
      claim: { metadata: { name: 'data', namespace: 'default', uid: 'claim-1' }, status: { phase: 'Bound', ...status } },
    };
  }

  attach(handle: string, metadata: Readonly<Record<string, string>> = {}): void {
    const name = uniqueVolumeName(CSI, handle);
    const before = this.nodes.value?.status;
    this.nodes.next({
      metadata: { name: 'n1', uid: 'u1' },
      status: {
        volumesInUse: [...(before?.volumesInUse ?? []), name],
        volumesAttached: [...(before?.volumesAttached ?? []), { name, devicePath: '' }],
      },
    });
    const path = `/apis/storage.k8s.io/v1/volumeattachments/${attachmentName(handle, CSI, 'n1')}`;
    this.api.put(path, { metadata: {}, status: { attached: true, attachmentMetadata: metadata } });
  }

  driverObject(spec: object): void {
    this.api.put(`/apis/storage.k8s.io/v1/csidrivers/${CSI}`, { metadata: { name: CSI }, spec });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.end();
    this.drivers.close();
    await rm(this.rootDir, { recursive: true });
  }
}

export const csiPod = (name = 'web', fsGroup?: number): Pod =>
  aPod(name, { serviceAccountName: 'robot', ...(fsGroup !== undefined && { securityContext: { fsGroup } }) });
