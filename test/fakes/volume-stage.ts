import { mkdtempSync } from 'node:fs';
import { readdir, readFile, readlink, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, afterEach, beforeEach } from 'node:test';
import { systemClock } from '../../src/base/clock.ts';
import { isJsonObject } from '../../src/base/json-object.ts';
import { ApiError } from '../../src/model/api-error.ts';
import { type ObjectReferenceOfPod, referenceKey } from '../../src/model/pod-references.ts';
import { noCsiVolumes } from '../../src/ports/csi-volumes.ts';
import type { Pod, PodUid } from '../../src/model/pod.ts';
import type { PersistentVolume, PersistentVolumeClaim } from '../../src/ports/claim-reader.ts';
import type { EngineFeatures } from '../../src/ports/engine-features.ts';
import type { Happenings } from '../../src/ports/happenings.ts';
import type { ImageService } from '../../src/ports/image-service.ts';
import type { ReferencedObject } from '../../src/ports/object-store.ts';
import type { TokenRequest } from '../../src/ports/service-account-tokens.ts';
import type { Disks } from '../../src/volumes/disks/disks.ts';
import { noDisks } from './no-disks.ts';
import { noGrowth } from './no-growth.ts';
import { type FlexDrivers, flexDrivers } from '../../src/volumes/flex-drivers.ts';
import type { Mounts } from '../../src/volumes/mounts.ts';
import { podVolumes, type PodVolumes } from '../../src/volumes/pod-volumes.ts';
import { directHostFiles } from './direct-host-files.ts';
import { aContainer, aPod } from '../builders/a-pod.ts';

type Volume = NonNullable<Pod['spec']['volumes']>[number];

/** Volumes of a pod "web" on a disk of their own, with an API and mounts of maps. Each test finds it empty. */
export class VolumeStage {
  readonly uid = 'uid-web' as PodUid;
  readonly rootDir = mkdtempSync(join(tmpdir(), 'rxlet-root-'));
  readonly objects = new Map<string, Pick<ReferencedObject, 'data' | 'binaryData'>>();
  readonly claims = new Map<string, PersistentVolumeClaim>();
  readonly persistentVolumes = new Map<string, PersistentVolume>();
  /** The tokens that were asked for. */
  readonly asked: TokenRequest[] = [];
  readonly events: string[] = [];
  /** What was done about volumes, or could not be: "kubernetes.io/empty-dir made". */
  readonly reported: string[] = [];
  readonly tell: Pick<Happenings, 'volumeMounted' | 'storageOperated'> = {
    volumeMounted: ({ plugin, failed }) => this.reported.push(`${plugin} ${failed ? 'failed' : 'made'}`),
    storageOperated: ({ operation, plugin, failed }) => this.reported.push(`${plugin} ${operation}${failed ? ' failed' : ''}`),
  };
  /** What is mounted where, and the directories that are in use. */
  readonly mounted = new Map<string, unknown>();
  readonly busy = new Set<string>();
  /** Directories whose unmounting lasts until this. */
  readonly lasting = new Map<string, Promise<void>>();
  readonly mounts: Mounts = {
    tmpfs: async (directory, options) => void this.mounted.set(directory, options),
    hugePages: async (directory, pageBytes) => void this.mounted.set(directory, { pageBytes }),
    mount: async (directory, request) => void this.mounted.set(directory, request),
    bind: async (source, target) => void this.mounted.set(target, await readlink(source).catch(() => source)),
    share: async (directory) => void this.mounted.set(directory, 'shared'),
    isMounted: async (path) => this.mounted.has(path),
    mountedAt: async (path) =>
      this.mounted.has(path) ? { device: '', source: String(sourceOf(this.mounted.get(path))), fsType: '' } : undefined,
    isShown: async (directory, at) => sourceOf(this.mounted.get(at)) === directory,
    showing: async (directory) => [...this.mounted].flatMap(([path, what]) => (sourceOf(what) === directory ? [path] : [])),
    release: async (path) => void this.mounted.delete(path),
    below: async (directory) => [...this.mounted.keys()].filter((target) => target.startsWith(directory)),
    unmountBelow: async (directory) => {
      await this.lasting.get(directory);
      if (this.busy.has(directory)) throw new Error('target is busy');
      for (const target of this.mounted.keys()) if (target.startsWith(directory)) this.mounted.delete(target);
    },
  };
  nowMs = 0;
  /** Disks that the node attaches; of volumes that are made anew. */
  disks: Disks = noDisks;
  /** What the engine can. */
  features: EngineFeatures = ableEngine;
  /** How it exports images. */
  exportImage: ImageService['exportImage'] = noImages;
  /** Whether the machine labels files; of volumes that are made anew. */
  selinux = false;
  volumes: PodVolumes = this.#newVolumes();

  /** For all tests of a file. */
  static forTests(): VolumeStage {
    const stage = new VolumeStage();
    beforeEach(() => {
      stage.selinux = false;
      stage.volumes = stage.#newVolumes();
      stage.nowMs = 0;
      stage.features = ableEngine;
      stage.exportImage = noImages;
    });
    afterEach(async () => {
      for (const map of [stage.objects, stage.claims, stage.persistentVolumes, stage.mounted, stage.busy, stage.lasting]) map.clear();
      stage.asked.length = 0;
      stage.events.length = 0;
      stage.reported.length = 0;
      for (const name of await readdir(stage.rootDir)) await rm(join(stage.rootDir, name), { recursive: true, force: true });
    });
    after(() => rm(stage.rootDir, { recursive: true, force: true }));
    return stage;
  }

  #newVolumes(): PodVolumes {
    const { objects, claims, persistentVolumes, asked, events } = this;
    return podVolumes({
      rootDir: this.rootDir,
      hostFiles: directHostFiles,
      engineFeatures: async () => this.features,
      images: { exportImage: (...asked) => this.exportImage(...asked) },
      csi: () => noCsiVolumes,
      disks: this.disks,
      growth: noGrowth,
      nodeName: 'n1',
      flex: this.flex,
      selinux: this.selinux,
      clock: { now: () => this.nowMs, monotonicMs: () => this.nowMs },
      events: { record: (_about, type, reason, message) => events.push(`${type} ${reason} ${message}`) },
      tell: this.tell,
      mounts: this.mounts,
      factsFor: () => ({
        objects: {
          get: async (reference: ObjectReferenceOfPod) => {
            const { name, kind } = reference;
            const object = objects.get(referenceKey(reference)) ?? notThere(`${kind.toLowerCase()} "${name}" not found`);
            return { metadata: { name, uid: '1', resourceVersion: '1' }, ...object };
          },
        },
        tokens: {
          get: async (_pod, request) => {
            asked.push(request);
            return 'a.b.c';
          },
        },
        allocatable: () => ({ memory: '1Gi' }),
        claims: {
          claim: async (namespace, name) => claims.get(name) ?? notThere(`persistentvolumeclaims "${namespace}/${name}" not found`),
          volume: async (name) => persistentVolumes.get(name) ?? notThere(`persistentvolumes "${name}" not found`),
        },
        node: () => ({ metadata: { name: 'n1', labels: { zone: 'a' } } }),
      }),
    });
  }

  /** The drivers, which have not been asked what they can. */
  get flex(): FlexDrivers {
    return flexDrivers(join(this.rootDir, 'flex'), systemClock);
  }

  /** As another agent process would have them. */
  renew(): void {
    this.volumes = this.#newVolumes();
  }

  dir(plugin: string, name: string): string {
    return join(this.rootDir, 'pods', this.uid, 'volumes', `kubernetes.io~${plugin}`, name);
  }
}

const sourceOf = (mounted: unknown): unknown => (isJsonObject(mounted) ? mounted['source'] : undefined);

const ableEngine: EngineFeatures = {
  handlers: [{ name: '', recursiveReadOnly: true, userNamespaces: true }],
  supplementalGroupsPolicy: true,
  imageVolumes: 'once',
};

const noImages = (imageRef: string): Promise<never> => Promise.reject(new Error(`No such image: ${imageRef}`));

const notThere = (message: string): never => {
  throw new ApiError(404, 'NotFound', message);
};

/** The pod "web", whose container mounts each volume at its name. */
export function podWith(...list: readonly Volume[]): Pod {
  const volumeMounts = list.map(({ name }) => ({ name, mountPath: `/${name}` }));
  return aPod('web', { volumes: list, containers: [aContainer('app', { volumeMounts })] }, { labels: { app: 'web' } });
}

/** The files of a volume that is made of API data, by path. */
export async function filesShown(directory: string): Promise<Record<string, string>> {
  const base = join(directory, '..data');
  const entries = await readdir(base, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  const pairs = files.map(async (path) => [path.slice(base.length + 1), await readFile(path, 'utf8')] as const);
  return Object.fromEntries(await Promise.all(pairs));
}

export const base64 = (text: string): string => Buffer.from(text).toString('base64');
