import { basename } from 'node:path';
import type { Cause, Explanation } from '../model/explanation.ts';
import type { ManifestPod } from '../ports/happenings.ts';
import type { KnownManifest, KnownManifests } from './known-manifests.ts';

/** Manifests, or pods in them, that make no pod on this node. Pure. */
export function explainManifests(manifests: KnownManifests): readonly Explanation[] {
  return manifests.all().flatMap((manifest) => {
    const idle = manifest.pods.filter(({ pod, uid }) => uid === undefined || manifests.winnerOver(pod, manifest.where) !== undefined);
    if (idle.length > 0) return idle.map((pod) => explainIdle(manifest, pod, manifests.winnerOver(pod.pod, manifest.where)));
    return manifest.faults.length > 0 && manifest.pods.length === 0 ? [explainIdle(manifest, undefined, undefined)] : [];
  });
}

function explainIdle(
  { source, where, faults, keeps, atMs }: KnownManifest,
  pod: ManifestPod | undefined,
  winner: string | undefined,
): Explanation {
  const [fault = 'it says nothing that can be read', ...others] = faults.map((text) => shortFault(text, where));
  const refused: Cause = {
    code: 'manifest-refused',
    kind: 'fault',
    text: `its manifest is invalid and refused: ${fault}${keeps === undefined ? '' : `; ${keeps} goes on as it was`}`,
    ...(others.length > 0 ? { detail: others.join('\n') } : {}),
    sinceMs: atMs,
    advice: 'correct the manifest; it is read again as soon as it is saved (rxlet validate checks it before)',
  };
  const ignored: Cause = {
    code: 'declared-twice',
    kind: 'fault',
    text: `${basename(where)} is ignored: ${basename(winner ?? '')} declares a pod of the same name, and counts`,
    sinceMs: atMs,
    advice: 'rename one of the two pods, or remove one of the files',
  };
  return {
    pod: pod === undefined || pod.pod.endsWith('/') ? basename(where) : pod.pod,
    origin: { source, where, ...(pod ? { line: pod.line } : {}) },
    state: 'refused',
    sinceMs: atMs,
    causes: [winner === undefined ? refused : ignored],
    containers: [],
    events: [],
  };
}

/** "FILE:3:5 spec: what": the directory is in the line before. */
export const shortFault = (text: string, where: string): string =>
  text.startsWith(where) ? `${basename(where)}${text.slice(where.length)}` : text;
