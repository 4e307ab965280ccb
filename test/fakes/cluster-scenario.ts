import { BehaviorSubject } from 'rxjs';
import type { MirrorOwner } from '../../src/mirror/mirror-pod-actions.ts';
import type { NodeUse } from '../../src/model/node-use.ts';
import type { Node } from '../../src/model/node.ts';
import { fitPod } from '../../src/model/fit-pod.ts';
import type { PodRefusal } from '../../src/model/pod-admission.ts';
import type { Pod, PodStatus } from '../../src/model/pod.ts';
import { FakeKubeApi } from './fake-kube-api.ts';
import { Scenario, scenarioOn } from './scenario.ts';

export const NODE = 'node-1';
const NODE_OBJECT: Node = { metadata: { name: NODE, uid: 'node-uid', labels: { disk: 'ssd' } } };

/** The agent on an engine and an API server in memory. Pods of the API are made and deleted as users do; `declare` is the manifest directory. */
export class ClusterScenario extends Scenario {
  readonly api: FakeKubeApi;
  readonly node: BehaviorSubject<MirrorOwner | undefined>;

  constructor() {
    // The store's times are for show here: the agent's clock is its own.
    const api = new FakeKubeApi();
    const node = new BehaviorSubject<MirrorOwner | undefined>(NODE_OBJECT);
    const judge = (pod: Pod, otherPods: NodeUse): PodRefusal | undefined => fitPod({ pod, otherPods, node: NODE_OBJECT });
    super({ api, informer: api.informer, nodeName: NODE, node, judge });
    this.api = api;
    this.node = node;
  }

  /** A pod that the scheduler has bound to the node. */
  create(pod: Pod, metadata: Partial<Pod['metadata']> = {}): void {
    this.api.put(pathOf(pod), { ...pod, metadata: { ...pod.metadata, ...metadata }, spec: { ...pod.spec, nodeName: NODE } });
  }

  /** What `kubectl delete` does; the API server's object stays until the agent is done. */
  async delete(pod: Pod, graceSeconds?: number): Promise<void> {
    const body = graceSeconds === undefined ? {} : { gracePeriodSeconds: graceSeconds };
    await this.api.door('user').request({ method: 'DELETE', path: pathOf(pod), body }, new AbortController().signal);
  }

  /** The API server's object; undefined once it is gone. */
  object(pod: Pod): Pod | undefined {
    return this.api.stored(pathOf(pod)) as Pod | undefined;
  }

  apiStatus(pod: Pod): PodStatus | undefined {
    return this.object(pod)?.status;
  }

  /** What the agent asked of the API server, but for the informer's lists: "PATCH default/web/status". */
  calls(): readonly string[] {
    return this.api.calls('main').map((call) => call.replace('/api/v1/namespaces/', '').replace('/pods', ''));
  }
}

export const pathOf = ({ metadata: { namespace, name } }: Pod): string => `/api/v1/namespaces/${namespace}/pods/${name}`;

export function clusterScenario(sentence: string, play: (it: ClusterScenario) => Promise<void>): void {
  scenarioOn(
    () => new ClusterScenario(),
    sentence,
    async (it) => {
      // A manifest directory that is there and empty.
      it.declare();
      await play(it);
    },
  );
}
