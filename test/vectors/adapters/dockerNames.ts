import { fromDockerLabels, toDockerLabels } from '../../../src/engines/docker/identity/docker-labels.ts';
import { type StringMap } from '../../../src/engines/common/identity/pod-labels.ts';
import { containerDockerName, parseDockerName, sandboxDockerName } from '../../../src/engines/docker/identity/docker-names.ts';
import type { PodUid } from '../../../src/model/pod.ts';

interface Input {
  readonly op: 'makeSandboxName' | 'makeContainerName' | 'parseSandboxName' | 'parseContainerName' | 'makeLabels' | 'extractLabels';
  readonly pod?: string;
  readonly namespace?: string;
  readonly uid?: string;
  readonly attempt?: number;
  readonly container?: string;
  readonly dockerName?: string;
  readonly labels?: StringMap;
  readonly annotations?: StringMap;
  readonly dockerLabels?: StringMap;
}

export function run(input: Input): object {
  const { op, pod = '', namespace = '', uid = '', attempt = 0, container = '', dockerName = '' } = input;
  const metadata = { name: pod, namespace, uid: uid as PodUid };
  switch (op) {
    case 'makeSandboxName':
      return { name: sandboxDockerName({ metadata }, attempt) };
    case 'makeContainerName':
      return { name: containerDockerName({ metadata }, container, attempt) };
    case 'parseSandboxName':
      return orError(() => {
        const name = parseDockerName(dockerName, 'sandbox');
        return { name: name.pod, namespace: name.namespace, uid: name.uid, attempt: name.attempt };
      });
    case 'parseContainerName':
      return orError(() => {
        const name = parseDockerName(dockerName, 'container');
        return { name: name.container, attempt: name.attempt };
      });
    case 'makeLabels':
      return { dockerLabels: toDockerLabels(input.labels ?? {}, input.annotations ?? {}) };
    case 'extractLabels':
      return fromDockerLabels(input.dockerLabels ?? {});
    default:
      throw new Error(`unknown op ${String(op satisfies never)}`);
  }
}

function orError(parse: () => object): object {
  try {
    return parse();
  } catch (error) {
    return { error: error instanceof Error ? error.message : String(error) };
  }
}
