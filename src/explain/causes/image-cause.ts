import type { Cause } from '../../model/explanation.ts';
import { type ContainerView, title } from '../container-view.ts';
import { searchable } from './start-cause.ts';

interface PullFault {
  readonly is: RegExp;
  readonly code: string;
  readonly what: string;
  readonly advice: string;
}

/** What engines and registries say, from the most telling on. */
const pullFaults: readonly PullFault[] = [
  {
    is: /toomanyrequests|too many requests|rate limit/i,
    code: 'image-pull-rate-limit',
    what: 'the registry limits how often it is asked (rate limit reached)',
    advice: 'wait, or pull with an account (imagePullSecrets), or use a mirror of the registry',
  },
  {
    is: /no basic auth credentials|unauthorized|authentication required|access (?:to the resource is )?denied|pull access denied|denied:|403 Forbidden|401/i,
    code: 'image-pull-unauthorized',
    what: 'the registry refuses it: unauthorized, or there is no such repository',
    advice: "check the image's name, and that imagePullSecrets or the node's docker config have a valid login for this registry",
  },
  {
    is: /no matching manifest for|no match for platform|does not match the specified platform|exec format/i,
    code: 'image-wrong-platform',
    what: 'there is no image for this machine’s architecture',
    advice: 'build or choose an image for this architecture, or a multi-platform one',
  },
  {
    is: /manifest (?:for .* )?(?:unknown|not found)|manifest_unknown|not found: manifest|: not found|repository .* does not exist|name unknown|NAME_UNKNOWN|no such image/i,
    code: 'image-not-found',
    what: 'the registry has no such image or tag (not found)',
    advice: "correct the image's name or tag, or push it to the registry",
  },
  {
    is: /no such host|server misbehaving|name resolution|lookup .* on .*:53/i,
    code: 'registry-name-not-resolved',
    what: "the registry's host name cannot be resolved",
    advice: "check the registry's name in the image, and the DNS of this node",
  },
  {
    is: /connection refused|no route to host|network is unreachable|connection reset|EOF$/i,
    code: 'registry-down',
    what: 'the registry cannot be reached: is it down?',
    advice: 'start the registry, or check its address and the network of this node',
  },
  {
    is: /no progress for|i\/o timeout|TLS handshake timeout|deadline exceeded|request canceled while waiting|Client\.Timeout/i,
    code: 'registry-silent',
    what: 'the registry does not answer in time',
    advice: "check the registry and this node's network and proxy",
  },
  {
    is: /x509|certificate|server gave HTTP response to HTTPS client|tls:/i,
    code: 'registry-tls',
    what: 'the secure connection to the registry cannot be made (TLS)',
    advice: "give the engine the registry's CA certificate, or list it under insecure-registries",
  },
  {
    is: /no space left on device/i,
    code: 'disk-full',
    what: 'the disk of the engine is full',
    advice: 'make room on the engine’s disk',
  },
  {
    is: /5\d\d (?:Internal|Bad Gateway|Service|Gateway)|received unexpected HTTP status/i,
    code: 'registry-broken',
    what: 'the registry answers with an error',
    advice: "look at the registry's own log",
  },
  {
    is: /pull QPS exceeded/,
    code: 'image-pull-rate-limit',
    what: 'this node pulls no more images for a moment (registryPullQPS)',
    advice: 'wait, or raise --registry-qps',
  },
];

const imageReasons: ReadonlySet<string> = new Set([
  'ErrImagePull',
  'ImagePullBackOff',
  'RegistryUnavailable',
  'SignatureValidationFailed',
  'ImageInspectError',
]);

/** Why the container's image is not here; undefined: it is. */
export function imageCause(view: ContainerView): Cause | undefined {
  const { spec, status, pull } = view;
  const { reason = '', message = '' } = status?.state?.waiting ?? {};
  const image = pull && pull.pull.stage !== 'pulled' ? pull.pull.image : (spec?.image ?? status?.image ?? '');
  const about = { container: view.name } as const;
  if (reason === 'InvalidImageName')
    return {
      ...about,
      code: 'image-name-invalid',
      kind: 'fault',
      text: `the image name ${JSON.stringify(image)} of ${title(view)} is invalid`,
      detail: message,
      advice: 'correct the image name: REGISTRY/REPOSITORY:TAG, in lower case',
    };
  if (reason === 'ErrImageNeverPull')
    return {
      ...about,
      code: 'image-never-pulled',
      kind: 'fault',
      text: `image ${image} of ${title(view)} is not on this machine, and imagePullPolicy Never forbids to pull it`,
      advice: 'load the image into the engine, or set imagePullPolicy: IfNotPresent',
    };
  const now = pull?.pull;
  if (now && (now.stage === 'waiting' || now.stage === 'begun' || now.stage === 'under way')) {
    return {
      ...about,
      code: 'image-pulling',
      kind: 'wait',
      text: `image ${image} of ${title(view)} is being pulled: ${progress(now)}`,
      sinceMs: pull.sinceMs,
    };
  }
  if (!imageReasons.has(reason)) return undefined;
  const failed = now?.stage === 'failed' || now?.stage === 'backing off' ? now : undefined;
  const words = failed?.error ?? message;
  const searched = searchable(words);
  const fault = pullFaults.find(({ is }) => is.test(searched));
  const retry = failed ? { untilMs: failed.retryAtMs } : {};
  const attempts = failed && failed.attempt > 1 ? `, ${failed.attempt} attempts so far` : '';
  return {
    ...about,
    ...retry,
    code: fault?.code ?? 'image-pull-failed',
    kind: 'fault',
    text: `image ${image} of ${title(view)} cannot be pulled: ${fault?.what ?? words}${attempts}`,
    ...(fault ? { detail: words } : {}),
    ...(pull ? { sinceMs: pull.failsSinceMs ?? pull.sinceMs } : {}),
    advice: fault?.advice ?? "check the image's name and the registry",
  };
}

function progress(pull: Extract<NonNullable<ContainerView['pull']>['pull'], { stage: 'waiting' | 'begun' | 'under way' }>): string {
  if (pull.stage === 'waiting') return `waits for ${pull.ahead} other ${pull.ahead === 1 ? 'pull' : 'pulls'}`;
  if (pull.stage === 'begun' || pull.bytes === 0) return 'begun';
  const percent = Math.floor((100 * pull.bytesDone) / pull.bytes);
  const left = pull.msLeft === undefined ? '' : `, about ${Math.max(1, Math.round(pull.msLeft / 1000))} s left`;
  return `${percent} %, ${megabytes(pull.bytesDone)} of ${megabytes(pull.bytes)} MB${left}`;
}

const megabytes = (bytes: number): string => (bytes / 1e6).toFixed(1);
