import { containerLabels, podLabels, readContainerLabels } from '../../../src/engines/common/identity/container-labels.ts';
import { POD_NAME_LABEL, POD_NAMESPACE_LABEL, POD_UID_LABEL, type StringMap } from '../../../src/engines/common/identity/pod-labels.ts';
import { containerLogDirectory, relativeLogPath } from '../../../src/engines/common/logs/log-paths.ts';
import { wholeContainerHash } from '../../../src/model/container-hash.ts';
import type { Pod } from '../../../src/model/pod.ts';

type Input =
  | { readonly op: 'make'; readonly pod: Pod; readonly restartCount: number }
  | { readonly op: 'parse'; readonly labels?: StringMap; readonly annotations?: StringMap };

export function run(input: Input): unknown {
  return input.op === 'make' ? make(input.pod, input.restartCount) : parse(input.labels ?? {}, input.annotations ?? {});
}

function make(pod: Pod, restartCount: number): unknown {
  const [container] = pod.spec.containers;
  if (!container) throw new Error('a pod without containers');
  const ofPod = podLabels(pod);
  const ofContainer = containerLabels(pod, container, { attempt: restartCount, hash: wholeContainerHash(container) });
  return {
    podLabels: ofPod.labels,
    podAnnotations: pod.metadata.annotations && ofPod.annotations,
    containerLabels: ofContainer.labels,
    containerAnnotations: ofContainer.annotations,
    logPath: relativeLogPath(container.name, restartCount),
    logDirectory: containerLogDirectory('/var/log/pods', pod, container.name),
  };
}

function parse(labels: StringMap, annotations: StringMap): unknown {
  const note = readContainerLabels({ labels, annotations });
  const identity = [POD_NAME_LABEL, POD_NAMESPACE_LABEL, POD_UID_LABEL];
  return {
    container: {
      podName: note.podName,
      podNamespace: note.podNamespace,
      podUID: note.podUid,
      containerName: note.containerName,
      hash: note.hash,
      restartCount: note.restartCount,
      podDeletionGracePeriod: note.deletionGracePeriodSeconds,
      podTerminationGracePeriod: note.terminationGracePeriodSeconds,
      terminationMessagePath: note.terminationMessagePath,
      terminationMessagePolicy: note.terminationMessagePolicy,
      preStopHandler: note.preStop,
      ports: note.ports?.length ? note.ports : undefined,
    },
    sandbox: {
      podName: note.podName,
      podNamespace: note.podNamespace,
      podUID: note.podUid,
      labels: Object.fromEntries(Object.entries(labels).filter(([key]) => !identity.includes(key))),
    },
  };
}
