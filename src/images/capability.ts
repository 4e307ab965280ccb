import { Backoff } from '../base/backoff.ts';
import { rememberedFor } from '../base/remembered-for.ts';
import { TokenBucket } from '../base/token-bucket.ts';
import { drainInto } from '../base/drain-into.ts';
import type { Contribution } from '../ports/contribution.ts';
import type { NodeParts } from '../ports/node-parts.ts';
import { nodeReference } from '../model/object-reference.ts';
import { featureGates } from '../options/feature-gates/feature-gates.ts';
import { ImageCollections } from './image-collections.ts';
import { ImageCollector, type ImageCollectorDependencies } from './image-collector.ts';
import type { ImageGcPolicy } from './image-gc-policy.ts';
import { ImageRecords } from './image-records.ts';
import { ImageRemovals } from './image-removals.ts';
import { isNamedBy } from './is-named-by.ts';
import { afterRemovals } from './after-removals.ts';
import { imageManager } from './image-manager.ts';
import { keyring } from './keyring.ts';
import { NodeDockerConfig } from './node-docker-config.ts';
import type { ProvidedCredentials } from './providers/credential-providers.ts';
import { PullQueue } from './pull-queue.ts';
import { pullSecrets } from './pull-secrets.ts';
import { ImageVerification } from './verification/image-verification.ts';
import { wantedImages } from './wanted-images.ts';

/** pkg/kubelet/kubelet.go: backOffPeriod and MaxContainerBackOff. */
const pullDelays = { baseMs: 10_000, maxMs: 300_000 };
/** Eight places are looked at, most of which have no file: once for pods that start together. */
const DOCKER_CONFIG_MS = 1000;

export type ImageNeeds = Pick<
  NodeParts,
  | 'options'
  | 'live'
  | 'clock'
  | 'log'
  | 'folded'
  | 'engine'
  | 'events'
  | 'cluster'
  | 'objects'
  | 'tell'
  | 'tracing'
  | 'node'
  | 'pods'
  | 'statuses'
>;

/** Pull policies, credentials, queueing and back-off as the options want them; and images that nothing uses are removed. */
export async function capability(needs: ImageNeeds): Promise<Contribution> {
  const { options, live, clock, log, engine, events, objects, tell, tracing } = needs;
  const { rootDir } = options;
  const { images } = engine;
  const removals = new ImageRemovals(images);
  const nodeConfig = new NodeDockerConfig({ rootDir, cwd: process.cwd(), home: process.env['HOME'] }, log);
  const provided = await providedCredentials(needs);
  const verification = imageVerification(needs);
  const collections = imageCollections(needs, removals, verification);
  const pulls = new PullQueue({
    images,
    limiter: new TokenBucket({ rate: () => ({ qps: live.now.registryQps, burst: live.now.registryBurst }), clock }),
    maxParallelPulls: () => (live.now.serializeImagePulls ? 1 : live.now.maxParallelImagePulls),
  });
  return {
    services: options.runOnce
      ? []
      : [
          { name: 'unused images', stage: 'beside pods', run: (signal, { stats }) => collections.run(stats, signal) },
          { name: 'image pulls', stage: 'before pods', run: (signal) => drainInto(live.changes, () => pulls.startWaiting(), signal) },
        ],
    metricTexts: verification ? [() => verification.metrics()] : [],
    reclaim: [{ name: 'images', resource: 'imagefs', reclaim: (signal) => collections.removeUnused(signal) }],
    images: afterRemovals(
      removals,
      imageManager({
        images,
        events,
        clock,
        log,
        keyring: keyring({ entries: rememberedFor(DOCKER_CONFIG_MS, clock, () => nodeConfig.entries()) }, provided),
        tell,
        tracing,
        pulls,
        backoff: new Backoff({ clock, ...pullDelays }),
        verification,
        pullSecrets: pullSecrets({ objectsOf: (pod) => objects.for(pod), events, log }),
      }),
    ),
  };
}

async function providedCredentials({ options, clock, log, tell, cluster, objects }: ImageNeeds): Promise<ProvidedCredentials | undefined> {
  const { imageCredentialProviderConfig: path, imageCredentialProviderBinDir: directory } = options;
  if (path === '' && directory === '') return undefined;
  if (path === '' || directory === '') {
    log.warn('no credential provider is asked: --image-credential-provider-config and --image-credential-provider-bin-dir go together');
    return undefined;
  }
  const { credentialProviders } = await import('./providers/credential-providers.ts');
  const mayHaveTokens = featureGates(options.featureGates).isOn('KubeletServiceAccountTokenForCredentialProviders');
  return credentialProviders({ path, directory, clock, log, tell, mayHaveTokens, api: cluster.exists ? objects : undefined });
}

function imageVerification({ options, clock, log, tell, engine: { images } }: ImageNeeds): ImageVerification | undefined {
  if (!featureGates(options.featureGates).isOn('KubeletEnsureSecretPulledImages')) return undefined;
  const { rootDir, imagePullCredentialsVerificationPolicy: policy, preloadedImagesVerificationAllowlist: allowlist } = options;
  return new ImageVerification({ rootDir, policy: { policy, allowlist }, images, clock, log, tell });
}

function imageCollections(
  { live, clock, folded, engine, events, tell, node, pods, statuses }: ImageNeeds,
  removals: ImageRemovals,
  verification: ImageVerification | undefined,
): ImageCollections {
  const policy = (): ImageGcPolicy => ({
    highThresholdPercent: live.now.imageGcHighThresholdPercent,
    lowThresholdPercent: live.now.imageGcLowThresholdPercent,
    minAgeMs: live.now.imageMinimumGcAgeMs,
    maxAgeMs: live.now.imageMaximumGcAgeMs,
  });
  const warn: ImageCollectorDependencies['warn'] = (reason, message) => events.record(nodeReference(node.name), 'Warning', reason, message);
  const collector = new ImageCollector({
    images: engine.images,
    remove: (image, signal) => removals.remove(image, signal),
    isWanted: (image) => [...wantedImages(pods, statuses)].some((name) => isNamedBy(image, name)),
    records: new ImageRecords(),
    policy,
    clock,
    log: folded,
    warn,
    tell,
  });
  // As the kubelet does it (pkg/kubelet/kubelet.go StartGarbageCollection).
  const disabled = (): boolean => policy().highThresholdPercent === 100 && policy().maxAgeMs === 0;
  const tidy = async (signal: AbortSignal): Promise<void> => verification?.tidy(signal);
  return new ImageCollections({ collector, tidy, disabled, isSynced: () => pods.synced, clock, log: folded, warn });
}
