import type { V1Container, V1PodSpec, V1Volume } from '@kubernetes/client-node';
import { app, pod, stays } from '../../integration/agent/pod-specs.ts';

/** Objects that the volumes of these pods show, all in one namespace. Directories of the node stand for disks. */
export interface Shown {
  readonly configMap: string;
  readonly secret: string;
  /** Claims that are bound to volumes of these kinds. */
  readonly hostPathClaim: string;
  readonly localClaim: string;
  /** A directory of the node, for volumes of type hostPath. */
  readonly directory: string;
}

function volumesOf({ configMap, secret, hostPathClaim, localClaim, directory }: Shown): V1Volume[] {
  const labels = { path: 'labels', fieldRef: { fieldPath: 'metadata.labels' } };
  const limit = { path: 'limit', resourceFieldRef: { containerName: 'app', resource: 'limits.memory' } };
  return [
    { name: 'disk', emptyDir: {} },
    { name: 'memory', emptyDir: { medium: 'Memory', sizeLimit: '1Mi' } },
    { name: 'host', hostPath: { path: `${directory}/made`, type: 'DirectoryOrCreate' } },
    { name: 'file', hostPath: { path: `${directory}/file`, type: 'FileOrCreate' } },
    { name: 'config', configMap: { name: configMap, items: [{ key: 'level', path: 'a/level', mode: 0o400 }] } },
    { name: 'secret', secret: { secretName: secret, defaultMode: 0o440 } },
    { name: 'downward', downwardAPI: { items: [labels, limit] } },
    {
      name: 'projected',
      projected: {
        sources: [
          { serviceAccountToken: { path: 'token', expirationSeconds: 600 } },
          { configMap: { name: configMap } },
          { secret: { name: secret } },
          { downwardAPI: { items: [labels] } },
        ],
      },
    },
    { name: 'on-host-path', persistentVolumeClaim: { claimName: hostPathClaim } },
    { name: 'on-local', persistentVolumeClaim: { claimName: localClaim } },
  ];
}

/** A container named "app" that has all volumes in it, the way each kind can be asked for, and goes on only if they show what they should. */
function withVolumes(volumes: readonly V1Volume[], script: string, over: Partial<V1Container> = {}): V1Container {
  const checks = [
    'test "$(cat /config/a/level)" = high -a "$(cat /level)" = high -a "$(cat /secret/user)" = me',
    'test -s /downward/labels -a -s /projected/token -a -s /projected/level -a -s /projected/user -a -f /file',
    'for each in /disk /memory /host /on-host-path /on-local /part /named; do echo x >$each/$HOSTNAME || exit 1; done',
  ];
  return app(`${checks.join(' && ')} || exit 1; ${script}`, {
    env: [
      { name: 'POD', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } },
      { name: 'LEVEL', valueFrom: { configMapKeyRef: { name: 'settings', key: 'level', optional: true } } },
    ],
    resources: { limits: { memory: '64Mi' } },
    volumeMounts: [
      ...volumes.map(({ name }) => ({ name, mountPath: `/${name}` })),
      { name: 'disk', mountPath: '/part', subPath: 'a/b' },
      { name: 'disk', mountPath: '/named', subPathExpr: 'of/$(POD)' },
      { name: 'config', mountPath: '/level', subPath: 'a/level' },
      { name: 'memory', mountPath: '/inner', mountPropagation: 'HostToContainer' },
    ],
    ...over,
  });
}

export interface PodKind {
  readonly what: string;
  readonly spec: V1PodSpec;
  /** Where it gets to before it is deleted. */
  readonly gets: 'up' | 'done' | 'restarted' | 'stuck';
}

/** Pods with every kind of volume that do all that a pod can do; the last ones in vain. Each goes at once when it is told to. */
export function podsWithEverything(shown: Shown): readonly PodKind[] {
  const volumes = volumesOf(shown);
  const main = (script: string, over: Partial<V1Container> = {}): V1Container => withVolumes(volumes, script, over);
  const everything = (containers: V1Container[], over: Partial<V1PodSpec> = {}): V1PodSpec =>
    pod(containers, {
      volumes,
      securityContext: { fsGroup: 4321 },
      terminationGracePeriodSeconds: 1,
      ...over,
    });
  const exec = (script: string) => ({ exec: { command: ['sh', '-c', script] } });
  const soon = { periodSeconds: 1, failureThreshold: 30 };
  const init = app('echo made >/disk/made', { name: 'init', volumeMounts: [{ name: 'disk', mountPath: '/disk' }] });
  return [
    { what: 'just volumes', gets: 'up', spec: everything([main(stays)]) },
    {
      what: 'an init container',
      gets: 'up',
      spec: everything([main(`test -s /disk/made || exit 1; ${stays}`)], { initContainers: [init] }),
    },
    {
      what: 'probes',
      gets: 'up',
      spec: everything([
        main(`httpd -p 8080 -h /disk && echo up >/disk/up; ${stays}`, {
          startupProbe: { tcpSocket: { port: 8080 }, ...soon },
          readinessProbe: { httpGet: { path: '/up', port: 8080 }, ...soon },
          livenessProbe: { ...exec('test -e /disk/up'), ...soon, periodSeconds: 2 },
        }),
      ]),
    },
    {
      what: 'hooks',
      gets: 'up',
      spec: everything([main(stays, { lifecycle: { postStart: exec('echo x >/disk/started'), preStop: exec('test -e /disk/started') } })]),
    },
    { what: 'an end of its own', gets: 'done', spec: everything([main('echo bye >/dev/termination-log')], { restartPolicy: 'Never' }) },
    { what: 'a crash loop', gets: 'restarted', spec: everything([main('exit 3')]) },
    {
      what: 'a liveness probe that fails, and two containers',
      gets: 'up',
      spec: everything([main(stays), app(stays, { name: 'side', livenessProbe: { ...exec('exit 1'), ...soon } })]),
    },
    { what: 'an image that is nowhere', gets: 'stuck', spec: everything([main(stays, { image: '127.0.0.1:1/nothing:1' })]) },
    {
      what: 'a volume of nothing',
      gets: 'stuck',
      spec: everything([main(stays)], { volumes: volumesOf({ ...shown, configMap: 'nothing' }) }),
    },
    { what: 'a hook that fails', gets: 'restarted', spec: everything([main(stays, { lifecycle: { postStart: exec('exit 1') } })]) },
  ];
}
