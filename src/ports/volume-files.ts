import type { Pod } from '../model/pod.ts';

/** Files in pods' volumes, as their containers left them. */
export interface VolumeFiles {
  /**
   * The file `path` of a volume that the pod has here; undefined where it has no such volume. No link leads out of the volume. Rejects where
   * there is no such file, and with a sentence for what is no regular file or is larger than a file of variables may be.
   */
  read(pod: Pod, volume: string, path: string, signal: AbortSignal): Promise<VolumeFile | undefined>;
}

export interface VolumeFile {
  /** Where it is on the node. */
  readonly path: string;
  readonly text: string;
}
