import { Backoff } from '../../../src/base/backoff.ts';
import { silentLogger } from '../../../src/base/logger.ts';
import { imageManager } from '../../../src/images/image-manager.ts';
import { keyring } from '../../../src/images/keyring.ts';
import { PullQueue } from '../../../src/images/pull-queue.ts';
import { ContainerStartError } from '../../../src/model/container-start-error.ts';
import type { Container, PodUid } from '../../../src/model/pod.ts';
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
  readonly verify?: string;
  readonly pullError?: string;
}

const found = { id: '', repoTags: [], repoDigests: [], sizeBytes: 0, user: '' };

export async function run({ steps }: { readonly steps: readonly Step[] }): Promise<unknown[]> {
  const clock = new FakeClock();
  let step: Step | undefined;
  let events: string[] = [];
  let pulled: string[] = [];
  const images: Pick<ImageService, 'inspectImage' | 'pullImage'> = {
    inspectImage: async (image) => {
      if (image.startsWith('ref-of-')) return { ...found, id: image, sizeBytes: 4321 };
      if (step?.inspectError) throw new Error(step.inspectError);
      return step?.presentRef ? { ...found, id: step.presentRef } : undefined;
    },
    pullImage: async (image) => {
      pulled.push(image);
      if (step?.pullError !== undefined && step.pullError !== '') throw new Error(step.pullError);
      return `ref-of-${image}`;
    },
  };
  const manager = imageManager({
    images,
    events: {
      record: (_about, type, reason, message) =>
        events.push(`${type} ${reason} ${message.replace(/ in \S+ \(\S+ including/, ' in <d> (<d> including')}`),
    },
    clock,
    log: silentLogger,
    keyring: keyring({ entries: async () => [] }),
    tell: silentHappenings,
    tracing: notTraced,
    pulls: new PullQueue({ images, limiter: undefined, maxParallelPulls: () => undefined }),
    backoff: new Backoff({ clock, baseMs: 10_000, maxMs: 300_000 }),
    verification: {
      mayUse: async () => {
        if (step?.verify && step.verify !== 'pull') throw new Error(step.verify);
        return !step?.verify;
      },
      begins: async () => {},
      succeeded: async () => {},
      failed: async () => {},
      stopped: async () => {},
    },
    pullSecrets: async () => [],
  });
  const out: unknown[] = [];
  for (step of steps) {
    clock.frame = step.atMs;
    events = [];
    pulled = [];
    const pod = aPod('p', {}, { uid: step.podUID as PodUid });
    // "" stands for a container that no defaulting has seen.
    const container: Container = { ...aContainer('c', { image: step.image }), imagePullPolicy: step.policy };
    const result = await manager.ensureImage(pod, container, new AbortController().signal).then(
      (ref) => ({ ref, ...(pulled.length === 0 && { message: `${events[0]?.replace(/^Normal Pulled /, '')}` }) }),
      (error: unknown) => {
        if (error instanceof ContainerStartError) return { error: error.reason, message: error.message };
        const { message } = error as Error;
        return { error: message, message };
      },
    );
    out.push({ ...result, ...(pulled.length > 0 && { pulled }), events });
  }
  return out;
}
