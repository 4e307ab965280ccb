import { NEVER } from 'rxjs';
import type { Engine } from '../../ports/engine.ts';

/** What a recording knows of an engine. */
export type RecordedEngine = Pick<Engine, 'name' | 'runtime' | 'features' | 'lastFeatures' | 'networkFault' | 'services' | 'close'>;

const notHere = (): Promise<never> => Promise.reject(new Error('there are no containers in a replay'));

/** An engine that answers as one did: by the answers of a recording. Nothing runs in it, so nothing can be reached or measured there. */
export function replayedEngine(recorded: RecordedEngine): Engine {
  return {
    ...recorded,
    images: {
      inspectImage: notHere,
      listImages: notHere,
      pullImage: notHere,
      imagesInUse: notHere,
      removeImage: notHere,
      exportImage: notHere,
    },
    access: {
      exec: notHere,
      attach: notHere,
      dial: notHere,
      logs: () => {
        throw new Error('there are no containers in a replay');
      },
    },
    running: { list: async () => [], stale: () => {} },
    dataDirectory: async () => undefined,
    imageBytes: async () => undefined,
    runtimeFault: () => undefined,
    networkChanges: NEVER,
  };
}
