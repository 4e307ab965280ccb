import { Backoff } from './base/backoff.ts';
import type { Clock } from './base/clock.ts';
import type { Logger } from './base/logger.ts';
import { TokenBucket } from './base/token-bucket.ts';
import { imageManager } from './images/image-manager.ts';
import { keyring } from './images/keyring.ts';
import { NodeDockerConfig } from './images/node-docker-config.ts';
import { PullQueue } from './images/pull-queue.ts';
import { pullSecrets } from './images/pull-secrets.ts';
import type { PodObjects } from './objects/pod-objects.ts';
import type { KubeletOptions } from './options/kubelet-options.ts';
import type { EventRecorder } from './ports/event-recorder.ts';
import type { ImagePuller } from './ports/image-puller.ts';
import type { ImageService } from './ports/image-service.ts';
import type { Trace } from './ports/pod-plan.ts';

/** pkg/kubelet/kubelet.go: backOffPeriod and MaxContainerBackOff. */
const pullDelays = { baseMs: 10_000, maxMs: 300_000 };

export interface ImagePartDeps {
  readonly clock: Clock;
  readonly log: Logger;
  readonly imageService: ImageService;
  readonly events: EventRecorder;
  /** Pull secrets are among them. */
  readonly objects: Pick<PodObjects, 'for'>;
  readonly trace: Trace;
}

/** Pull policies, credentials, queueing and back-off as the options want them. */
export function imagePart(options: KubeletOptions, { clock, log, imageService, events, objects, trace }: ImagePartDeps): ImagePuller {
  const { registryQps, registryBurst, serializeImagePulls, maxParallelImagePulls, rootDir } = options;
  return imageManager({
    images: imageService,
    events,
    clock,
    log,
    keyring: keyring(new NodeDockerConfig({ rootDir, cwd: process.cwd(), home: process.env['HOME'] }, log)),
    trace,
    pulls: new PullQueue({
      images: imageService,
      limiter: registryQps > 0 ? new TokenBucket({ qps: registryQps, burst: registryBurst, clock }) : undefined,
      maxParallelPulls: serializeImagePulls ? 1 : maxParallelImagePulls,
    }),
    backoff: new Backoff({ clock, ...pullDelays }),
    pullSecrets: pullSecrets({ objectsOf: (pod) => objects.for(pod), events, log }),
  });
}
