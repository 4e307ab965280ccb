import type { Container, Pod, PodSpec, PodUid } from '../../src/model/pod.ts';

/** A pod for tests. Defaults are those of a decoded static pod. */
export function aPod(name: string, spec: Partial<PodSpec> = {}, metadata: Partial<Pod['metadata']> = {}): Pod {
  return {
    metadata: { name, namespace: 'default', uid: `uid-${name}` as PodUid, ...metadata },
    spec: {
      restartPolicy: 'Always',
      terminationGracePeriodSeconds: 30,
      dnsPolicy: 'ClusterFirst',
      securityContext: {},
      enableServiceLinks: true,
      ...spec,
      containers: spec.containers ?? [aContainer('app')],
    },
  };
}

export function aContainer(name: string, over: Partial<Container> = {}): Container {
  return { name, image: 'busybox:1.35', imagePullPolicy: 'IfNotPresent', resources: {}, ...over };
}
