import type { Clock } from '../base/clock.ts';
import type { KubeletOptions } from '../options/kubelet-options.ts';
import type { NodeManifests } from '../ports/node-manifests.ts';
import { countingNow } from './declarations.ts';
import { DeclaredBy } from './declared-by.ts';
import type { FileSource } from './file-source.ts';
import { manifestReader } from './read-manifest.ts';
import { staticPodRules } from './static-pod-rules.ts';

export interface NodeManifestsDeps {
  readonly options: Pick<KubeletOptions, 'nodeName' | 'podManifestPath' | 'featureGates'>;
  readonly clock: Pick<Clock, 'schedule' | 'sleep'>;
}

/** What the manifest directory declares, and what other texts would declare in its place. */
export function nodeManifests({ options, clock }: NodeManifestsDeps, source: Pick<FileSource, 'declaring'>): NodeManifests {
  const { nodeName, podManifestPath: path } = options;
  return {
    path,
    current() {
      const files = source.declaring();
      return files && countingNow(files, nodeName);
    },
    async read(manifests, signal) {
      const by = new DeclaredBy(
        manifestReader({ source: 'file', nodeName, objects: true, ...staticPodRules(options.featureGates) }, clock),
      );
      for (const { file, text } of manifests) {
        await by.add(file, Buffer.from(text));
        // Each takes up to a tenth of a second, and the pods are not to wait for all of them.
        await clock.sleep(0, signal);
      }
      return { ...by.declared, unreadable: [] };
    },
  };
}
