import type { V1PodSpec } from '@kubernetes/client-node';
import { stringify } from 'yaml';
import { app, pod, stays } from '../agent/pod-specs.ts';
import type { SickPod, SickWorld } from './sick-pods.ts';

const object = (kind: 'ConfigMap' | 'Secret', name: string, data: object): string =>
  stringify({ apiVersion: 'v1', kind, metadata: { name }, data });
const probe = (script: string) => ({ exec: { command: ['sh', '-c', script] }, periodSeconds: 1 });
const refused = (name: string, text: string, says: RegExp): SickPod => ({
  files: { 'pod.yaml': text },
  ask: `${name}-pod.yaml`,
  says,
});
const aPodWith = (more: string): string => `apiVersion: v1\nkind: Pod\nmetadata:\n  name: x\nspec:\n${more}`;
const containers = '  containers:\n  - name: app\n    image: busybox:1.35\n';

/** Rarer diseases. */
export function moreSickPods({ registry }: Partial<SickWorld> = {}): Readonly<Record<string, SickPod>> {
  const host = registry?.host ?? '';
  const mounts = (mountPath: string, volume: object, over: object = {}): V1PodSpec =>
    pod([app(stays, { volumeMounts: [{ name: 'v', mountPath, ...over }] })], { volumes: [{ name: 'v', ...volume }] });
  return {
    'command-not-executable': {
      files: { 'object.yaml': object('ConfigMap', 'scripts', { run: '#!/bin/sh\nexit 0\n' }) },
      spec: pod([app('', { command: ['/s/run'], volumeMounts: [{ name: 's', mountPath: '/s' }] })], {
        volumes: [{ name: 's', configMap: { name: 'scripts', defaultMode: 0o644 } }],
      }),
      says: /its command "\/s\/run" may not be executed \(permission denied\)/,
    },
    'directory-on-a-file': {
      spec: mounts('/etc/passwd', { emptyDir: {} }),
      says: /a directory is mounted on a file, or a file on a directory/,
    },
    'working-directory-is-a-file': {
      spec: pod([app(stays, { workingDir: '/etc/passwd' })]),
      says: /its workingDir \/etc\/passwd is a file in the image/,
    },
    'no-command': {
      spec: pod([{ name: 'app', image: `${host}/test/idle:1`, imagePullPolicy: 'Always' }]),
      says: /no command/,
    },
    'user-of-the-image-unknown': {
      spec: pod([app(stays, { image: `${host}/test/user:1`, imagePullPolicy: 'Always' })]),
      says: /knows no user or group nobody-here/,
    },
    'memory-limit-too-small': {
      spec: pod([app(stays, { resources: { limits: { memory: '1Mi' } } })]),
      says: /its memory limit is too low even to start it/,
    },
    'no-huge-pages': {
      spec: pod([app(stays, { resources: { limits: { 'hugepages-2Mi': '512Gi', memory: '16Mi' } } })]),
      says: /there is not enough hugepages-2Mi on this node/,
    },
    'for-windows': { spec: pod([app()], { os: { name: 'windows' } }), says: /may not run here: it is for another operating system/ },
    'readiness-gate': {
      spec: pod([app()], { readinessGates: [{ conditionType: 'example.com/approved' }] }),
      says: /is not ready before example\.com\/approved is True \(readiness gate\)/,
    },
    'probe-that-hangs': {
      spec: pod([app(stays, { readinessProbe: { ...probe('sleep 20'), timeoutSeconds: 1 } })]),
      says: /its readiness probe fails: .*timed out/,
    },
    'sidecar-crashes': {
      spec: pod([app()], { initContainers: [app('echo no upstream; exit 3', { name: 'proxy', restartPolicy: 'Always' })] }),
      says: /sidecar proxy crashes: exit code 3.*no upstream/i,
    },
    'processes-limited': {
      spec: pod([app('ulimit -u 1; sleep 1 & sleep 1 & wait', { securityContext: { runAsUser: 4242 } })]),
      says: /crashes: exit code 2.*can't fork/,
    },
    'files-limited': {
      spec: pod([app('ulimit -n 4; exec 3</etc/passwd; cat /etc/passwd /etc/group 4</etc/group')]),
      says: /crashes: exit code \d+.*too many open files|crashes.*Bad file descriptor|crashes.*No file descriptors/i,
    },
    'nfs-server-down': {
      spec: mounts('/n', { nfs: { server: '127.0.0.1', path: '/none' } }),
      says: /Volume v cannot be mounted: .*(?:mount\.nfs is missing|nfs|connection refused)/i,
    },
    'pull-secret-missing': {
      spec: pod([app(stays, { image: `${host}/test/closed:1`, imagePullPolicy: 'Always' })], { imagePullSecrets: [{ name: 'no-login' }] }),
      says: /Secret no-login \(imagePullSecrets\) is missing, and the registry refuses it/,
    },
    'yaml-tabs': refused('yaml-tabs', 'apiVersion: v1\nkind: Pod\nmetadata:\n\tname: x\n', /manifest is invalid and refused: .*tab/i),
    'sub-path-escapes': refused(
      'sub-path-escapes',
      aPodWith(`${containers}    volumeMounts: [{name: v, mountPath: /v, subPath: ../../etc}]\n  volumes: [{name: v, emptyDir: {}}]\n`),
      /invalid and refused: .*subPath: Invalid value: "\.\.\/\.\.\/etc"/,
    ),
    'a-deployment': refused(
      'a-deployment',
      'apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: x}\nspec: {}\n',
      /manifest is invalid and refused: .*Deployment/,
    ),
    'service-account': refused(
      'service-account',
      aPodWith(`${containers}  serviceAccountName: robot\n`),
      /invalid and refused: .*service ?account/i,
    ),
    'limits-below-requests': refused(
      'limits-below-requests',
      aPodWith(`${containers}    resources: {requests: {memory: 2Gi}, limits: {memory: 1Gi}}\n`),
      /invalid and refused: .*requests: Invalid value: "2Gi": must be less than/,
    ),
    'wrong-unit': refused(
      'wrong-unit',
      aPodWith(`${containers}    resources: {limits: {memory: 64MB}}\n`),
      /invalid and refused: .*(?:64MB|quantit)/,
    ),
    'config-map-too-big': {
      files: { 'object.yaml': object('ConfigMap', 'big', { all: 'x'.repeat(1_100_000) }) },
      ask: 'config-map-too-big-object.yaml',
      says: /invalid and refused: .*1048576/,
    },
  };
}
