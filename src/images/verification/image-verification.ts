import { join } from 'node:path';
import type { Clock } from '../../base/clock.ts';
import { exposition, type MetricFamily } from '../../base/exposition.ts';
import type { Logger } from '../../base/logger.ts';
import { OngoingFaults } from '../../base/ongoing-faults.ts';
import { parseImageName } from '../../model/image-name.ts';
import type { Happenings, ImageCheck } from '../../ports/happenings.ts';
import type { ImageInfo, ImageService } from '../../ports/image-service.ts';
import { OpenIntents } from './open-intents.ts';
import { credentialsOf, matchOf, type PullCredentials, type TrackedCredentials } from './pull-credentials.ts';
import { formatIntent, formatRecord, parseIntent, parseRecord, type PulledRecord, withProof } from './pulled-record.ts';
import { RecordFiles, recordFileName } from './record-files.ts';
import { type VerificationPolicy, verificationOf } from './verification-policy.ts';

export interface ImageVerificationDependencies {
  readonly rootDir: string;
  readonly policy: VerificationPolicy;
  readonly images: Pick<ImageService, 'listImages'>;
  readonly clock: Pick<Clock, 'now'>;
  readonly log: Logger;
  readonly tell: Pick<Happenings, 'imageChecked'>;
}

type Present = Pick<ImageInfo, 'id' | 'repoTags' | 'repoDigests'>;
type Found = PulledRecord | 'damaged' | undefined;

/**
 * Which pods may use an image that is here without pulling it (pkg/kubelet/images/pullmanager). What was pulled here, and by which credentials,
 * is recorded where a kubelet records it, and found by the image's id: other names for it lead to the same record. An image without record
 * and intent was not pulled here. Of credentials only hashes are kept.
 */
export class ImageVerification {
  readonly #needs: ImageVerificationDependencies;
  readonly #pulling: RecordFiles;
  readonly #pulled: RecordFiles;
  readonly #intents = new OpenIntents();
  /** Intents that cannot be read: which images they are about, only their names tell. */
  readonly #unreadable = new Set<string>();
  /** Records that were written while unknown ones are being removed. */
  readonly #written = new Set<string>();
  readonly #faults = new OngoingFaults<string>();
  #loading: Promise<void> | undefined;

  constructor(needs: ImageVerificationDependencies) {
    this.#needs = needs;
    this.#pulling = new RecordFiles(join(needs.rootDir, 'image_manager', 'pulling'));
    this.#pulled = new RecordFiles(join(needs.rootDir, 'image_manager', 'pulled'));
  }

  /**
   * Whether a pod may use the image, which it calls `name`. `credentials` are those that it could pull it with: asked for only where it depends
   * on them. What cannot be read, or said, is not allowed: the image is pulled, by which the registry says it.
   */
  async mayUse(
    name: string,
    image: Present,
    credentials: () => Promise<readonly TrackedCredentials[]>,
    signal: AbortSignal,
  ): Promise<boolean> {
    const { log, tell } = this.#needs;
    const told = (check: ImageCheck): boolean => {
      tell.imageChecked(check);
      return check === 'credentialPolicyAllowed' || check === 'credentialRecordFound';
    };
    try {
      return told(await this.#check(name, image, credentials));
    } catch (error) {
      signal.throwIfAborted();
      log.warn('whether a pod may use an image cannot be said: it is pulled', { image: name, error });
      return told('error');
    }
  }

  async #check(name: string, image: Present, credentials: () => Promise<readonly TrackedCredentials[]>): Promise<ImageCheck> {
    const verification = verificationOf(this.#needs.policy, name);
    if (verification === 'never') return 'credentialPolicyAllowed';
    const record = await this.#read(image.id);
    if (record === 'damaged') return 'error';
    if (record === undefined) {
      const mayUse = verification === 'unless preloaded' && !(await this.#isPulledHere(name, image));
      return mayUse ? 'credentialPolicyAllowed' : 'mustAuthenticate';
    }
    const known = record.names.get(parseImageName(name).repo);
    if (known?.nodePodsAccessible) return 'credentialRecordFound';
    if (known === undefined || (known.secrets.length === 0 && known.serviceAccounts.length === 0)) return 'mustAuthenticate';
    const { mayUse, learnt } = matchOf(known, await credentials());
    if (learnt) await this.#prove(name, image.id, { secrets: [learnt], serviceAccounts: [], nodePodsAccessible: false }).catch(() => {});
    return mayUse ? 'credentialRecordFound' : 'mustAuthenticate';
  }

  /**
   * Before each pull; `before`: the id of the image of that name that is there already, if that is known. Rejects where it cannot be kept that
   * a pull begins: what that brings could be used by everybody.
   */
  async begins(name: string, before: string | undefined): Promise<void> {
    await this.#loaded();
    const file = recordFileName(name);
    // First of all: who ends a pull of the same image meanwhile leaves it its intent.
    this.#intents.begun(name, before);
    try {
      await this.#pulling.change(file, async () => formatIntent(name));
      this.#unreadable.delete(file);
    } catch (error) {
      await this.failed(name);
      throw error;
    }
  }

  /** `used`: what it worked with; undefined: without credentials. Never rejects: a record that cannot be written is said, and the intent stays. */
  async succeeded(name: string, id: string, used: TrackedCredentials | undefined): Promise<void> {
    try {
      await this.#prove(name, id, credentialsOf(used));
      if (this.#intents.succeeded(name)) await this.#removeIntent(name);
    } catch {
      this.#intents.stopped(name);
    }
  }

  /** The engine says that the pull has failed. Never rejects. */
  async failed(name: string): Promise<void> {
    if (this.#intents.failed(name)) await this.#removeIntent(name);
  }

  /**
   * Nobody has waited for the end of the pull. Over a restart that is kept where it may have brought what was not there: a node without its
   * registry has its older images for all its pods. Never rejects.
   */
  async stopped(name: string): Promise<void> {
    if (this.#intents.stopped(name) !== undefined) await this.#removeIntent(name);
  }

  /**
   * Removes the records of images that are gone, as a kubelet does after it has collected images (PruneUnknownRecords), and records what
   * stopped pulls have brought. Without records the engine is not asked. Rejects where the engine or the disk does not say what is there.
   */
  async tidy(signal: AbortSignal): Promise<void> {
    await this.#loaded();
    // What is recorded from here on may be about an image that the listing does not have yet.
    this.#written.clear();
    const isEmpty = (await this.#pulled.names()).length === 0 && this.#intents.size === 0;
    const listed = isEmpty ? [] : await this.#needs.images.listImages(signal);
    for (const { image, pulled } of this.#intents.outcomes(listed)) await this.#settle(image, pulled);
    const known = new Set(listed.map(({ id }) => recordFileName(id)));
    await this.#removeOthers(this.#pulled, (file) => known.has(file) || this.#written.has(file));
    await this.#removeOthers(this.#pulling, () => true);
  }

  /** That it was pulled here is recorded, and not by what: its next use pulls it. What cannot be written stays open, and is said. */
  async #settle(name: string, ids: readonly string[]): Promise<void> {
    try {
      for (const id of ids) await this.#prove(name, id, undefined);
      if (this.#intents.settled(name)) await this.#removeIntent(name);
    } catch {}
  }

  /** The part of /metrics about what is on the disk; without what cannot be read. */
  async metrics(): Promise<string> {
    const family = async (what: string, help: string, files: RecordFiles): Promise<MetricFamily> => {
      const names = await files.names().catch(() => undefined);
      const samples = names === undefined ? [] : [{ labels: {}, value: names.length }];
      return { name: `kubelet_imagemanager_ondisk_${what}`, help: `[ALPHA] ${help}`, type: 'gauge', samples };
    };
    return exposition([
      await family('pullintents', 'Number of ImagePullIntents stored on disk.', this.#pulling),
      await family('pulledrecords', 'Number of ImagePulledRecords stored on disk.', this.#pulled),
    ]);
  }

  async #isPulledHere(name: string, image: Present): Promise<boolean> {
    await this.#loaded();
    if (this.#intents.mayHaveBrought(image) || this.#unreadable.has(recordFileName(name))) return true;
    // A pull may have ended meanwhile.
    return (await this.#read(image.id)) !== undefined;
  }

  /** Undefined: there is none. What is no record is said once. */
  async #read(id: string, read = (): Promise<string | undefined> => this.#pulled.read(recordFileName(id))): Promise<Found> {
    const path = this.#pulled.path(recordFileName(id));
    try {
      const text = await read();
      const record = text === undefined ? undefined : parseRecord(text);
      if (record !== undefined && record.imageRef !== id) throw new Error('it is about another image');
      this.#faults.over(path);
      return record;
    } catch (error) {
      const message = 'an image is verified by its registry at its next use: the record of its last pull cannot be read';
      if (this.#faults.fault(path, error)) this.#needs.log.warn(message, { path, error });
      return 'damaged';
    }
  }

  /** Rejects where it cannot be written, which is said. */
  async #prove(name: string, id: string, proved: PullCredentials | undefined): Promise<void> {
    const file = recordFileName(id);
    const { repo } = parseImageName(name);
    try {
      await this.#pulled.change(file, async (read) => {
        const known = await this.#read(id, read);
        this.#written.add(file);
        const record = withProof(known === 'damaged' ? undefined : known, id, repo, proved);
        return record && formatRecord(record, this.#needs.clock.now());
      });
    } catch (error) {
      this.#cannotWrite(this.#pulled.path(file), error);
      throw error;
    }
  }

  async #removeIntent(name: string): Promise<void> {
    const file = recordFileName(name);
    await this.#pulling.remove(file).catch((error: unknown) => this.#cannotWrite(this.#pulling.path(file), error));
  }

  async #removeOthers(files: RecordFiles, keep: (file: string) => boolean): Promise<void> {
    await files.removeOthers(keep).catch((error: unknown) => this.#cannotWrite(files.path(''), error));
  }

  #cannotWrite(path: string, error: unknown): void {
    const message = 'what is recorded of image pulls cannot be changed: images may be pulled again where that is not necessary';
    if (this.#faults.fault(`${path} is written`, error)) this.#needs.log.warn(message, { path, error });
  }

  /** Rejects where the disk does not say which pulls are open; asked again, it looks again. */
  #loaded(): Promise<void> {
    this.#loading ??= this.#load().catch((error: unknown) => {
      this.#loading = undefined;
      throw error;
    });
    return this.#loading;
  }

  /** Of what an agent that is gone, or a kubelet, has left. */
  async #load(): Promise<void> {
    for (const file of await this.#pulling.names()) {
      const path = this.#pulling.path(file);
      try {
        const text = await this.#pulling.read(file);
        if (text === undefined) continue;
        const image = parseIntent(text);
        if (recordFileName(image) !== file) throw new Error('it is about another image');
        this.#intents.found(image);
      } catch (error) {
        this.#unreadable.add(file);
        this.#needs.log.warn('a pull that was not ended cannot be told: what it says cannot be read', { path, error });
      }
    }
  }
}
