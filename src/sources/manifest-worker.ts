// The thread that reads one large manifest (see read-manifest.ts).
import { once } from 'node:events';
import { parentPort, workerData } from 'node:worker_threads';
import type { ManifestPart, ManifestWork } from './read-manifest.ts';
import { staticPodReader } from './read-static-pods.ts';

/** Taking over this many at a time holds up the agent for some milliseconds. */
const PODS_AT_ONCE = 200;

if (parentPort !== null) {
  const port = parentPort;
  const send = (part: ManifestPart): void => port.postMessage(part);
  const { options, manifest } = workerData as ManifestWork;
  const { pods, ...rest } = staticPodReader(options)(manifest);
  for (let at = 0; at < pods.length; at += PODS_AT_ONCE) {
    send(pods.slice(at, at + PODS_AT_ONCE));
    await once(port, 'message');
  }
  send(rest);
}
