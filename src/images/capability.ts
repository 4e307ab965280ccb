import { Backoff } from '../base/backoff.ts';
import { TokenBucket } from '../base/token-bucket.ts';
import type { Contribution } from '../ports/contribution.ts';
import type { NodeParts } from '../ports/node-parts.ts';
import { imageManager } from './image-manager.ts';
import { keyring } from './keyring.ts';
import { NodeDockerConfig } from './node-docker-config.ts';
import { PullQueue } from './pull-queue.ts';
import { pullSecrets } from './pull-secrets.ts';

/** pkg/kubelet/kubelet.go: backOffPeriod and MaxContainerBackOff. */
const pullDelays = { baseMs: 10_000, maxMs: 300_000 };

export type ImageNeeds = Pick<NodeParts, 'options' | 'clock' | 'log' | 'engine' | 'events' | 'objects' | 'tell'>;

/** Pull policies, credentials, queueing and back-off as the options want them. */
export function capability({ options, clock, log, engine, events, objects, tell }: ImageNeeds): Contribution {
  const { registryQps, registryBurst, serializeImagePulls, maxParallelImagePulls, rootDir } = options;
  const { images } = engine;
  return {
    images: imageManager({
      images,
      events,
      clock,
      log,
      keyring: keyring(new NodeDockerConfig({ rootDir, cwd: process.cwd(), home: process.env['HOME'] }, log)),
      tell,
      pulls: new PullQueue({
        images,
        limiter: registryQps > 0 ? new TokenBucket({ qps: registryQps, burst: registryBurst, clock }) : undefined,
        maxParallelPulls: serializeImagePulls ? 1 : maxParallelImagePulls,
      }),
      backoff: new Backoff({ clock, ...pullDelays }),
      pullSecrets: pullSecrets({ objectsOf: (pod) => objects.for(pod), events, log }),
    }),
  };
}
