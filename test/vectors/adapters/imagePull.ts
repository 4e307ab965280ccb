import { Backoff } from '../../../src/base/backoff.ts';
import { silentLogger } from '../../../src/base/logger.ts';
import { imageManager } from '../../../src/images/image-manager.ts';
import { keyring } from '../../../src/images/keyring.ts';
import { PullQueue } from '../../../src/images/pull-queue.ts';
import { ContainerStartError } from '../../../src/model/container-start-error.ts';
import type { Container, PodUid } from '../../../src/model/pod.ts';
import { RegistryUnavailableError } from '../../../src/model/registry-unavailable-error.ts';
import type { ImageService } from '../../../src/ports/image-service.ts';
import { aContainer, aPod } from '../../builders/a-pod.ts';
import { FakeClock } from '../../fakes/fake-clock.ts';
import { silentHappenings } from '../../fakes/silent-happenings.ts';
import { notTraced } from '../../../src/ports/tracing.ts';

interface Step {
  readonly atMs: number;
  readonly podUID: string;
  readonly image: string;
  readonly policy: string;
  readonly presentRef?: string;
  readonly inspectError?: string;
  readonly pullError?: string;
}

export async function run({ steps }: { readonly steps: readonly Step[] }): Promise<unknown[]> {
  const clock = new FakeClock();
  let step: Step | undefined;
  let events: string[] = [];
  let pulled = false;
  const images: Pick<ImageService, 'inspectImage' | 'pullImage'> = {
    inspectImage: async (image) => {
      // The engine of these cases finds an image by its id alone, and fails only where it finds none.
      if (step?.presentRef === image) return { id: image, repoTags: [], repoDigests: [], sizeBytes: 0, user: '' };
      if (step?.inspectError) throw new Error(step.inspectError);
      return undefined;
    },
    pullImage: async (image) => {
      pulled = true;
      if (step?.pullError === 'RegistryUnavailable') throw new RegistryUnavailableError();
      if (step?.pullError !== undefined && step.pullError !== '') throw new Error(step.pullError);
      return image;
    },
  };
  const manager = imageManager({
    images,
    events: {
      record: (_about, type, reason, message) =>
        events.push(`${type} ${reason} ${message.replace(/(^Successfully pulled image .*) in \S+$/, '$1 in <duration>')}`),
    },
    clock,
    log: silentLogger,
    keyring: keyring({ entries: async () => [] }),
    tell: silentHappenings,
    tracing: notTraced,
    pulls: new PullQueue({ images, limiter: undefined, maxParallelPulls: () => undefined }),
    backoff: new Backoff({ clock, baseMs: 10_000, maxMs: 300_000 }),
    pullSecrets: async () => [],
  });
  const out: unknown[] = [];
  for (step of steps) {
    clock.frame = step.atMs;
    events = [];
    pulled = false;
    const pod = aPod('p', {}, { uid: step.podUID as PodUid });
    // "" stands for a container that no defaulting has seen.
    const container: Container = { ...aContainer('c', { image: step.image }), imagePullPolicy: step.policy };
    const result = await manager.ensureImage(pod, container, new AbortController().signal).then(
      (ref) => ({ ref }),
      (error: unknown) => {
        if (!(error instanceof ContainerStartError)) throw error;
        return { error: error.reason, message: error.message };
      },
    );
    out.push({ ...result, pulled, events });
  }
  return out;
}
